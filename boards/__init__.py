"""Boards and targets: synthesis and place-and-route flows, and the reading of their reports."""
