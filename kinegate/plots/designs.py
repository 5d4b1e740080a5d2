"""A design sweep: how often and how badly the workspace of each design is singular."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from kinegate.plots.marks import legend
from kinegate.plots.style import BAD_HATCH, UNKNOWN, new_figure


@dataclass(frozen=True)
class _Panel:
    """What a panel shows; `share`: of poses; `much_is_bad`; `always`: also where it is the same for
    all designs."""

    text: str
    share: bool = True
    much_is_bad: bool = False
    always: bool = False


PANELS = {
    "singular": _Panel("how often: share near a singularity", much_is_bad=True, always=True),
    "worst_log10_singular_value": _Panel(
        "how badly: log10 of the smallest singular value", share=False, always=True
    ),
    "beyond": _Panel("share beyond a singularity", much_is_bad=True),
    "feasible": _Panel("share with feasible tensions"),
    "reach": _Panel("share in reach"),
}


def designs_figure(
    name: str,
    keys: Sequence[str],
    values: Sequence[Sequence[float]],
    columns: Mapping[str, np.ndarray],
) -> Figure:
    """How often and how badly designs are singular, and what else differs between them.

    `columns` in the shape of the sweep: one or two keys, with the values of each.
    """
    shown = [key for key, panel in PANELS.items() if panel.always or _differs(columns[key])]
    across = 2 if len(shown) in (2, 4) else 3
    down = -(-len(shown) // across)
    figure = new_figure((5.2 * across, 4.5 * down + 0.6))
    draw = _draw_cells if len(keys) == 2 else _draw_line
    for number, key in enumerate(shown, 1):
        axes = figure.add_subplot(down, across, number)
        draw(axes, values, columns[key], PANELS[key])
        axes.set_title(PANELS[key].text)
        axes.set_xlabel(keys[0])
        if len(keys) == 2:
            axes.set_ylabel(keys[1])
    if any(np.isnan(columns[key]).any() for key in shown):
        patch = Patch(facecolor=UNKNOWN, hatch=BAD_HATCH, edgecolor="0.4", label="not known")
        legend(figure, [patch])
    figure.suptitle(f"{name}: {' and '.join(keys)} varied (in units of the robot file)")
    return figure


def _differs(column: np.ndarray) -> bool:
    known = column[np.isfinite(column)]
    return bool(known.size) and np.ptp(known) > 1e-9


def _draw_line(
    axes: Axes, values: Sequence[Sequence[float]], column: np.ndarray, panel: _Panel
) -> None:
    axes.plot(values[0], column, "o-", markersize=4)
    if panel.share:
        axes.set_ylim(-0.02, max(1.02 * np.nanmax(column, initial=0.0), 0.05))
    axes.grid(alpha=0.3)


def _draw_cells(
    axes: Axes, values: Sequence[Sequence[float]], column: np.ndarray, panel: _Panel
) -> None:
    """Dark is bad in every panel."""
    known = column[np.isfinite(column)]
    low, high = (known.min(), known.max()) if known.size else (0.0, 1.0)
    if not _differs(column):
        low, high = (0.0, 1.0) if panel.share else (low - 0.5, high + 0.5)
    axes.patch.set(facecolor=UNKNOWN, hatch=BAD_HATCH, edgecolor="0.4")
    image = axes.pcolormesh(
        *values,
        np.ma.masked_invalid(column.T),
        cmap=matplotlib.colormaps["viridis_r" if panel.much_is_bad else "viridis"],
        norm=Normalize(low, high),
        shading="nearest",
        rasterized=True,
    )
    axes.get_figure().colorbar(image, ax=axes)
