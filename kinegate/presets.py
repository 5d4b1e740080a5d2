"""Named sets of generation options. An option that is written beside a preset wins."""

from __future__ import annotations

from collections.abc import Mapping

PRESETS: Mapping[str, Mapping[str, object]] = {
    # The published design for four cables on a Zynq-7020: one step every 98 ns.
    "zynq7020": {"kernel": "step", "ii": 12, "target": "xc7z020", "clock": 122.4},
}
