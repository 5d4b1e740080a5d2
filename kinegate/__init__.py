"""The public face: the Python API and the command line, which only connect the parts below."""

from kinegate.api import (
    catalogue,
    check,
    generate,
    geometry_words,
    load,
    simulate,
    solve,
    synth,
)
from kinegate.building import build
from kinegate.importing import import_robot
from kinegate.mapping import workspace
from kinegate.showing import show
from kinegate.talking import talk

__all__ = [
    "build",
    "catalogue",
    "check",
    "generate",
    "geometry_words",
    "import_robot",
    "load",
    "show",
    "simulate",
    "solve",
    "synth",
    "talk",
    "workspace",
]
