"""Plots, by matplotlib without a display: figures of what the other parts computed."""
