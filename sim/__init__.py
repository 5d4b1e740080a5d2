"""Simulation: benches, simulator runners and the comparison with the bit-true model."""
