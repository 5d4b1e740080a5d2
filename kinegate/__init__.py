"""The public face: the Python API and the command line, which only connect the parts below."""

from kinegate.api import catalogue, check, generate, load, simulate, solve, synth

__all__ = ["catalogue", "check", "generate", "load", "simulate", "solve", "synth"]
