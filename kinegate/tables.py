"""Readable tables on stdout."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

WIDTH = 120
"""Columns where stdout is no terminal."""


def console() -> Console:
    """Stdout as it is now; plain text where it is no terminal."""
    width = None if sys.stdout.isatty() else WIDTH
    return Console(file=sys.stdout, width=width, highlight=False, markup=False, emoji=False)


def table(title: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    """A table without frames; columns of numbers go to the right."""
    rows = [[_shown(cell) for cell in row] for row in rows]
    result = Table(title=Text(title), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for place, name in enumerate(header):
        numbers = all(row[place][:1].isdigit() or row[place] in ("", "-") for row in rows)
        result.add_column(name, justify="right" if numbers else "left")
    for row in rows:
        result.add_row(*(Text(cell) for cell in row))
    return result


def facts(title: str, rows: Mapping[str, object]) -> Table:
    """Names and values, one pair a line."""
    result = Table(title=Text(title), title_justify="left", box=None, show_header=False)
    for name, value in rows.items():
        result.add_row(Text(name, style="bold"), Text(_shown(value)))
    return result


def _shown(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}" if value < 1e6 else f"{value:,.0f}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_shown(entry)}" for name, entry in value.items()) or "-"
    if isinstance(value, list | tuple):
        return ", ".join(_shown(entry) for entry in value) or "-"
    return str(value)


def _first_words(text: str, most: int = 45) -> str:
    """The first sentence, or as much of it as has room."""
    sentence = text.partition(". ")[0].rstrip(".")
    return sentence if len(sentence) <= most else f"{sentence[: most - 3]}..."


def micro(value: float) -> str:
    """A length or angle in millionths."""
    return f"{value * 1e6:.3g}"


def errors(largest: Mapping[str, float]) -> str:
    """The largest errors by their unit."""
    units = {"m": "um", "rad": "urad"}
    return (
        ", ".join(
            f"{micro(value)} {units[name]}" if name in units else f"{name} {value:.2g}"
            for name, value in largest.items()
        )
        or "-"
    )


def catalogue(known: Mapping[str, Any]) -> None:
    """`list`."""
    out = console()
    robots = [
        (r["name"], r["kind"], r["motion"], r["joints"], r["closure"], _first_words(r["source"]))
        for r in known["robots"]
    ]
    out.print(table("Robots", ("name", "kind", "motion", "joints", "closure", "source"), robots))
    chips = [
        (t["name"], t["family"], t["dsp"], t["lut"], t["ff"], t["bram"]) for t in known["targets"]
    ]
    out.print(table("Targets", ("name", "family", "dsp", "lut", "ff", "bram"), chips))
    kernels = [(k["name"], k["what"]) for k in known["kernels"]]
    out.print(table("Kernels", ("name", "what"), kernels))
    boards = [(b["name"], b["title"], b["target"]) for b in known["boards"]]
    out.print(table("Boards", ("name", "what", "target"), boards))


def check(found: Mapping[str, Any]) -> None:
    """`check`."""
    out = console()
    if found["kind"] == "serial":
        _arm_facts(out, found)
    else:
        _pose_facts(out, found)
    if found["cost"]:
        out.print(cost(found["cost"]))
    else:
        out.print(Text(f"No hardware: {found['cost_note']}"), soft_wrap=True)
    for finding in found["findings"]:
        out.print(
            Text(f"{finding['severity']}: {finding['name']}: {finding['text']}"), soft_wrap=True
        )
    out.print("can be solved" if found["ok"] else "CANNOT be solved")


def _arm_facts(out: Console, found: Mapping[str, Any]) -> None:
    condition = found["condition"]
    out.print(
        facts(
            f"{found['robot']}: {found['kind']}, {found['joints']} joints",
            {
                "mass that moves": f"{found['mass']:.4g} kg",
                "reach of the tip": f"up to {found['reach']:.4g} m",
                "condition of the mass matrix": f"up to {condition:.3g}"
                if condition
                else "singular",
            },
        )
    )
    names = ("names", "units", "holding", "moving", "effort")
    rows = [
        (name, unit, f"{still:.4g}", f"{most:.4g}", "-" if effort is None else f"{effort:.4g}")
        for name, unit, still, most, effort in zip(*(found[key] for key in names), strict=True)
    ]
    header = ("joint", "unit", "holding", "at its limits", "effort")
    out.print(table(f"Largest torques over {found['samples']} states", header, rows))


def _pose_facts(out: Console, found: Mapping[str, Any]) -> None:
    determined = (
        "by the joints" if found["determined"] else f"not by the joints ({found['closure']})"
    )
    conditioning = []
    for where in ("home", "level", "workspace"):
        at = found[where]
        low, high = at["rank"]
        ranks = str(low) if low == high else f"{low} to {high}"
        conditioning.append((where, at["poses"], ranks, at["deficient"], *at["condition"]))
    out.print(
        facts(
            f"{found['robot']}: {found['kind']}, {found['motion']}, {found['joints']} joints",
            {
                "unknowns": found["unknowns"],
                "mobility with all joints held": found["mobility"],
                "pose determined": determined,
                "free at home": "; ".join(found["free_directions"]) or "nothing",
                "characteristic length": f"{found['characteristic_length']:.4g} m",
                "joints": "; ".join(
                    f"{low:.3f} to {high:.3f} {unit}"
                    for (low, high), unit in zip(found["lengths"], found["units"], strict=True)
                ),
            },
        )
    )
    header = ("poses", "count", "rank", "share below full", "condition: min", "mean", "max")
    out.print(table("Conditioning of the scaled Jacobian", header, conditioning))


def cost(planned: Mapping[str, Any]) -> Table:
    """What the hardware will cost."""
    return facts(
        f"Cost of {planned['kernel']} on {planned['target']} (profile {planned['profile']})",
        {
            "multipliers": f"{planned['dsp']} of {planned['dsp_available']} DSP blocks, "
            f"{planned['dsp_busy']:.0%} busy ({planned['multiplier_slots']} slots), "
            f"{planned['lut_multipliers']} more in LUTs",
            "II": f"{planned['ii']} cycles at {planned['clock_mhz']:g} MHz: "
            f"{planned['updates_per_s'] / 1e6:.3g} M updates/s",
            "latency": f"{planned['latency_cycles'] or planned['pipeline_cycles']} cycles"
            + ("" if planned["latency_cycles"] else " for each pass"),
            **_precision(planned),
        },
    )


def _precision(planned: Mapping[str, Any]) -> dict[str, str]:
    if not planned["stops_at"]:
        what, unit = planned["judged"]
        return {
            f"quantum of {what}": f"{planned['quantum']:.3g} {unit}",
            "accuracy asked": f"{planned['accuracy']:g} {unit}",
        }
    ((kind, tolerance),) = planned["stops_at"].items()
    return {
        "quantum of poses and lengths": f"{micro(planned['quantum'])} um",
        "accuracy asked": f"{micro(planned['accuracy'])} um",
        "a solve stops at": f"a {kind} of {micro(tolerance)} um",
    }


def generated(made: Mapping[str, Any]) -> None:
    """`generate`."""
    out = console()
    options, multipliers = made["options"], made["multipliers"]
    out.print(
        facts(
            f"{made['name']} in {made['directory']}",
            {
                "files": made["files"],
                "II (clock cycles)": made["ii"],
                "latency (clock cycles)": made["latency"],
                "clock asked": f"{made['clock_mhz']:g} MHz on {options['target']}",
                "multipliers planned": f"{multipliers['dsp']} DSP blocks, "
                f"{multipliers['dsp_busy']:.0%} busy, {multipliers['lut']} more in LUTs",
                "largest error against float64": errors(made["max_error"]),
                "golden vectors": f"{made['vectors']['count']}, seed {made['vectors']['seed']}",
            },
        )
    )
    for side, ports in made["ports"].items():
        rows = [(port["name"], port["format"], port["width"]) for port in ports]
        out.print(table(f"Ports {side}", ("port", "format", "bits"), rows))
    out.print(f"next: kinegate simulate {made['directory']}", soft_wrap=True)
    out.print(f"      kinegate synth {made['directory']}", soft_wrap=True)
    name = made["name"]
    out.print(
        f"      cd {made['directory']} && iverilog -g2005 -o sim {name}.v {name}_tb.v && vvp sim",
        soft_wrap=True,
    )


def imported(made: Mapping[str, Any]) -> None:
    """`import`."""
    rows = {"from": made["source"]}
    if made["kind"] == "serial":
        rows["joints"] = str(made["joints"])
    else:
        rows |= _imported_workspace(made)
    if made["poses_output"]:
        rows["poses"] = f"{made['poses']} in {made['poses_output']}"
    out = console()
    out.print(facts(f"{made['robot']} in {made['output']}", rows))
    out.print(f"next: kinegate check {made['output']}", soft_wrap=True)


def _imported_workspace(made: Mapping[str, Any]) -> dict[str, Any]:
    links = "cables" if made["kind"] == "cable" else "legs"
    return {
        "motion": f"{made['motion']}, {made['cables']} {links}",
        "position": "; ".join(f"{low:g} to {high:g} m" for low, high in made["position"]),
        "tilt": f"up to {made['tilt']:g} rad" if made["tilt"] else None,
        "home": made["home"],
        "workspace": made["workspace_source"],
    }


def shown(made: Mapping[str, Any]) -> None:
    """`show`."""
    condition = [value for value in made["condition"] if value is not None]
    faults = sum(bool(note) for note in made["notes"])
    rows = {
        "poses": len(made["poses"]),
        "condition number": f"{min(condition):.3g} to {max(condition):.3g}" if condition else "-",
        "tensions": made["tensions_note"] and f"not known: {made['tensions_note']}",
        "poses with a note": faults,
    }
    if len(made["poses"]) == 1:
        rows["note"] = made["notes"][0] or "none"
        del rows["poses with a note"]
    if made["tensions"]:
        del rows["tensions"]
    console().print(facts(f"{made['robot']} in {made['output']}", rows))


def simulation(seen: Mapping[str, Any]) -> None:
    """`simulate`."""
    rows = {
        "vectors": f"{seen['vectors']}, seed {seen['seed']}",
        "mismatches": seen["mismatches"],
        "latency, measured": seen["latency_cycles"],
        "latency, model": seen["latency_model"],
        "II, measured": seen["ii_measured"],
        "II, model": seen["ii_model"],
        "transfers off the model's cycles": seen["timing_differs"],
        "clock cycles": seen["cycles"],
        "largest error against float64": errors(seen["max_error"]),
    }
    timed = seen["timing_differs"] is not None
    if not timed:
        for row in ("latency, model", "II, model", "transfers off the model's cycles"):
            del rows[row]
    if "step_ii" in seen:
        rows["a step every"] = f"{seen['step_ii']} cycles"
    if "waves" in seen:
        rows["waves"] = seen["waves"]
    out = console()
    out.print(facts(f"{seen['kernel']} of {seen['robot']} in {seen['simulator']}", rows))
    exact = "bit-exact and cycle-exact" if timed else "bit-exact"
    out.print(exact if seen["passed"] else "FAILED")


def synthesis(made: Mapping[str, Any]) -> None:
    """`synth`."""
    mean = " (at the mean II of golden vectors)" if made["kernel"] == "forward" else ""
    fmax = "not routed" if made["fmax_mhz"] is None else f"{made['fmax_mhz']:.1f} MHz"
    console().print(
        facts(
            f"{made['kernel']} on {made['target']}, II {made['ii']}",
            {
                "LUT": made["lut"],
                "FF": made["ff"],
                "DSP": f"{made['dsp']} (plan {made['dsp_planned']}), {made['dsp_busy']:.0%} busy",
                "multipliers in LUTs": made["lut_multipliers"],
                "block RAM": made["bram"],
                "fits": made["fits"],
                "clock asked": f"{made['clock_mhz']:g} MHz",
                "clock reached": fmax,
                "latency (cycles)": made["latency_cycles"],
                "throughput": f"{made['throughput_per_s'] / 1e6:.4g} M/s{mean}",
            },
        )
    )


def built(made: Mapping[str, Any]) -> None:
    """`build`."""
    have = made["available"]
    used = {
        text: f"{made[name]:g} of {have[name]:g}"
        for text, name in (("LUT", "lut"), ("FF", "ff"), ("DSP", "dsp"), ("block RAM", "bram"))
    }
    routed = made["fmax_mhz"] is not None
    mean = " (mean of golden vectors)" if made["kernel"] == "forward" else ""
    console().print(
        facts(
            f"{made['kernel']} of {made['robot']} on {made['board']}",
            used
            | {
                "clock": f"{made['clock_mhz']:g} MHz",
                "clock reached": f"{made['fmax_mhz']:.2f} MHz, seed {made['seed']}"
                if routed
                else "not routed",
                "timing met": made["met"],
                "results": f"{made['throughput_per_s']:,.0f} a second{mean}",
                "files": ", ".join(made.get("files", ())) or "none",
            },
        )
    )


def workspace(found: Mapping[str, Any]) -> None:
    """A map of `workspace`."""
    out = console()
    axes = ", ".join(
        f"{name} {axis['low']:g} to {axis['high']:g} in {axis['cells']}"
        for name, axis in found["axes"].items()
    )
    rows = {
        "map": axes,
        "at": ", ".join(f"{name} {value:g}" for name, value in found["at"].items()) or "-",
        "not mapped": "; ".join(f"{k}: {why}" for k, why in found["missing"].items()) or "nothing",
        "safe": f"{found['safe']:.1%}, at least {found['margin']:g} m from what is bad",
    }
    out.print(facts(f"{found['robot']}: workspace", rows))
    spreads = [(name, *row.values()) for name, row in found["quantities"].items()]
    out.print(table("Quantities", ("quantity", "min", "median", "max"), spreads))
    bad = [
        (name, f"{share:.2%}", found["limits"].get(name)) for name, share in found["bad"].items()
    ]
    out.print(table("Bad cells", ("criterion", "share", "limit"), bad))
    _print_paths(found)
    _print_files(found)


def _print_paths(found: Mapping[str, Any]) -> None:
    for name in ("path", "plan"):
        path = found.get(name)
        if path is None or "reason" in path:
            continue
        least = "at least " if path["clearance_is_at_least"] else ""
        rows = {
            "rows": f"{path['rows']}, {path['length']:.4g} m",
            "bad rows": path["bad_rows"][:10] + ["..."] * (len(path["bad_rows"]) > 10) or "none",
            "margin left": f"{least}{path['clearance']:.4g} m at row {path['nearest_row']:.6g}",
            **{
                f"worst {key}": f"{worst['worst']:.4g} at row {worst['row']:.6g}"
                for key, worst in path["worst"].items()
            },
        }
        console().print(facts(f"The {name}: {'good' if path['ok'] else 'BAD'}", rows))


def sweep(found: Mapping[str, Any]) -> None:
    """A sweep of `workspace`."""
    out = console()
    rows = {
        key: f"{axis['first']:g} to {axis['last']:g} in {axis['count']}"
        for key, axis in found["keys"].items()
    }
    rows |= {
        "designs": f"{found['designs']}, {found['refused']} are no robot, {found['lost']} lost",
        "poses of each": f"{found['samples']}, seed {found['seed']}",
        "least singular": found["least_singular"],
    }
    out.print(facts(f"{found['robot']}: sweep of designs", rows))
    spreads = [(name, *row.values()) for name, row in found["columns"].items()]
    out.print(table("Over the designs", ("figure", "min", "max"), spreads))
    _print_files(found)


def _print_files(found: Mapping[str, Any]) -> None:
    if "files" in found:
        console().print(f"in {found['directory']}: {', '.join(found['files'])}", soft_wrap=True)
