"""Dynamics: serial arms by recursion, and mechanisms with closed loops by their constraints."""
