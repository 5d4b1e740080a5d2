"""Geometry that is loaded into a design: its words, and another one to try it with."""

from __future__ import annotations

import numpy as np

from hdl.design import Design
from solver_ref.errors import InputError
from solver_ref.geometry import drawn, loaded_codes
from solver_ref.parameters import words
from solver_ref.robot import Robot


def geometry_words(design: Design, robot: Robot) -> list[int]:
    """What the load port of a design takes for a robot that was measured again.

    Its codes by address, then their checksum. InputError where the design has no load port, the
    robot differs in what is built in, or a number by more than its tolerance.
    """
    if not design.parameters:
        expected = "hardware with run-time geometry"
        raise InputError(
            robot.name, "geometry", wrong="cannot be loaded", expected=expected, got=design.name
        )
    return words(design.parameters, loaded_codes(design.robot, design.parameters, robot))


def tried_robot(design: Design, seed: int) -> Robot:
    """The robot to simulate a design with: where its geometry can be loaded, another one."""
    if not design.parameters:
        return design.robot
    return drawn(design.robot, np.random.default_rng([seed, 1]))


def manifest_entry(design: Design) -> dict[str, object] | None:
    """What a manifest says of the load port; None without one."""
    if not design.parameters:
        return None
    *codes, checksum = words(design.parameters)
    return {
        "words": [
            {
                "address": address,
                "name": name,
                "format": str(parameter.format),
                "nominal": parameter.initial,
                "lo": parameter.lo,
                "hi": parameter.hi,
            }
            for address, (name, parameter) in enumerate(design.parameters.items())
        ],
        "checksum": f"{checksum:08x}",
        "checksum_address": len(codes),
        "file": f"{design.name}_geometry.hex",
    }
