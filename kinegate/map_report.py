"""What `workspace` says of a map, a path and a plan: plain values for JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from kinegate.map_work import Work
from solver_ref.kinematics import scaling
from solver_ref.maps.criteria import CRITERIA
from solver_ref.maps.field import Quantity
from solver_ref.maps.fields import FIELDS, QUANTITIES
from solver_ref.maps.path import PathReport
from solver_ref.maps.robot_map import UNKNOWN, RobotMap


def map_summary(work: Work, found: RobotMap) -> dict[str, Any]:
    """The facts of a map; `ok` says whether it is whole."""
    section, robot = found.section, work.robot
    complete = UNKNOWN not in found.bad_by
    held = {
        name: float(value)
        for name, value in zip(robot.coordinates, section.held, strict=True)
        if name not in section.axes
    }
    missing = {name: field.missing(robot) for name, field in FIELDS.items()}
    return {
        "ok": complete,
        "complete": complete,
        "robot": robot.name,
        "digest": robot.digest,
        "axes": {
            name: {"low": float(values[0]), "high": float(values[-1]), "cells": len(values)}
            for name, values in zip(section.axes, section.values, strict=True)
        },
        "at": held,
        "fields": list(work.fields),
        "missing": {name: reason for name, reason in missing.items() if reason},
        "limits": {
            name: limit
            for name, limit in work.limits.items()
            if name in found.bad_by and not CRITERIA[name].fixed
        },
        "quantities": {
            quantity.name: _spread(found.values[quantity.name])
            for quantity in shown_quantities(found)
        },
        "bad": {name: float(bad.mean()) for name, bad in found.bad_by.items()},
        "margin": found.margin,
        "safe": float(found.safe.mean()),
        "seed": work.seed,
    }


def shown_quantities(found: RobotMap) -> list[Quantity]:
    """The quantities of a map that have a plot."""
    return [QUANTITIES[name] for name in found.values if QUANTITIES[name].shown]


def _spread(values: np.ndarray) -> dict[str, float | None]:
    known = values[np.isfinite(values)]
    if not known.size:
        return dict.fromkeys(("min", "median", "max"))
    return {
        "min": float(known.min()),
        "median": float(np.median(known)),
        "max": float(known.max()),
    }


def path_summary(work: Work, checked: PathReport, rows: np.ndarray) -> dict[str, Any]:
    """The facts of a checked path."""
    coordinates = work.robot.coordinates
    lengths = np.linalg.norm(np.diff(rows, axis=0) * scaling(work.robot), axis=-1)
    return {
        "ok": checked.ok,
        "rows": len(rows),
        "length": float(lengths.sum()),
        "samples": checked.samples,
        "step": checked.step,
        "bad_rows": list(checked.bad_rows),
        "crossings": [
            asdict(crossing) | {"pose": dict(zip(coordinates, crossing.pose, strict=True))}
            for crossing in checked.crossings
        ],
        "worst": {name: asdict(extreme) for name, extreme in checked.extremes.items()},
        "margin": checked.margin,
        "clearance": finite(checked.clearance),
        "clearance_is_at_least": checked.beyond,
        "nearest_row": checked.nearest,
    }


def plan_summary(work: Work, rows: np.ndarray | None, checked: PathReport | str) -> dict[str, Any]:
    """The facts of a plan: `found`, and why not or the path's."""
    if rows is None:
        return {"ok": False, "found": False, "reason": checked}
    return {"found": True} | path_summary(work, checked, rows) | {"poses": rows.tolist()}


def finite(value: float) -> float | None:
    """The value, or None where it is not finite: what JSON can hold."""
    return float(value) if math.isfinite(value) else None


def map_notes(found: Mapping[str, Any]) -> list[str]:
    """What is to be said of a path, a plan, and lost workers, a line each."""
    notes = []
    if not found["complete"]:
        notes.append("not complete: workers were lost, and what they computed is left out")
    for name in ("path", "plan"):
        if name in found:
            outcome = found[name]
            text = outcome["reason"] if "reason" in outcome else _path_text(outcome, found)
            notes.append(f"the {name} {text}")
    return notes


def _path_text(path: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    """Where a path first fails and by what, or what margin it keeps."""
    if not path["crossings"]:
        least = f"at least {path['clearance']:.4g} m"
        if not path["clearance_is_at_least"]:
            least = f"{path['clearance']:.4g} m, the least at row {path['nearest_row']:.6g}"
        return f"is good everywhere and keeps {least}; {path['margin']:g} m asked"
    first, more = path["crossings"][0], len(path["crossings"]) - 1
    pose = ", ".join(f"{name} {value:.4g}" for name, value in first["pose"].items())
    text = f"is bad from row {first['first']:.6g} to {first['last']:.6g} ({pose}): "
    text += first["criterion"]
    if first["worst"] is not None:
        criterion = CRITERIA[first["criterion"]]
        side = "at most" if criterion.upper else "at least"
        unit = f" {criterion.unit}" if criterion.unit else ""
        limit = found["limits"][criterion.name]
        text += f" {first['worst']:.4g}{unit}, {side} {limit:g}{unit} asked"
    rest = f"; {more} more such stretches" if more else ""
    return f"{text}{rest}; no margin left"
