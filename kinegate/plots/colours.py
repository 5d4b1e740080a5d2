"""The colours of a quantity: its colour map, its norm and its colour bar."""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm, Normalize, TwoSlopeNorm
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatter, MaxNLocator

from kinegate.plots.style import UNKNOWN
from solver_ref.maps.field import Quantity


def colours_of(quantity: Quantity, values: np.ndarray) -> dict[str, Any]:
    """`cmap` and `norm` for matplotlib, by the finite values.

    A quantity with a unit and both signs is centred at 0. Extremes beyond 1 and 99 of 100 cells are
    cut off, so that a few cells near a singularity do not take all colours.
    """
    finite = values[np.isfinite(values)]
    low, high = np.percentile(finite, (1, 99)) if finite.size else (0.0, 1.0)
    if quantity.scale == "truth":
        return _colours("cividis", Normalize(0, 1))
    if quantity.scale == "count":
        return _counted(int(low), int(high))
    if quantity.scale == "log" and low > 0:
        return _colours("viridis", LogNorm(low, max(high, low * 1.01)))
    if quantity.unit and finite.size and finite.min() < 0 < finite.max():
        ends = (min(low, finite.min()) if low >= 0 else low, high if high > 0 else finite.max())
        return _colours("RdBu", TwoSlopeNorm(0, *ends))
    return _colours("viridis", Normalize(low, low + max(high - low, 1e-3 * abs(low), 1e-12)))


def colour_bar(figure: Figure, image: ScalarMappable, quantity: Quantity, **place: Any) -> None:
    """The colour bar of a quantity, with whole numbers for counts and plain ones for logarithms."""
    ticks = MaxNLocator(integer=True) if quantity.scale == "count" else None
    bar = figure.colorbar(image, label=quantity.label, ticks=ticks, **place)
    if isinstance(image.norm, LogNorm):
        bar.formatter = LogFormatter()
        bar.minorformatter = LogFormatter(minor_thresholds=(2, 0.4))


def _counted(low: int, high: int) -> dict[str, Any]:
    """One colour for each whole number, as long as they can be told apart."""
    colours = _colours("viridis", Normalize(low - 0.5, high + 0.5))
    if high - low < 20:
        colours["cmap"] = colours["cmap"].resampled(high - low + 1)
    return colours


def _colours(name: str, norm: Normalize) -> dict[str, Any]:
    return {"cmap": matplotlib.colormaps[name].with_extremes(bad=UNKNOWN), "norm": norm}
