"""What can be chosen of the hardware that is generated, and what goes together."""

from __future__ import annotations

from dataclasses import dataclass

from hdl.folded.team import LARGEST_TEAM
from hdl.serial_map import DEFAULT_BAUD
from hdl.target import target
from solver_ref.kernels import KERNELS
from solver_ref.profile import PROFILES

LARGEST_II = 1024
LARGEST_CLOCK_MHZ = 1000.0
SHELLS = {"stream": 0, "axi": 32, "axi64": 64}
"""What is around the kernel: its own streams, or AXI with beats of so many bits."""
SERIAL = "uart"
"""The shell of a board's top level: a serial line."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """What to generate. ValueError, in a full sentence, for an option that cannot be."""

    kernel: str = "step"
    ii: int = 4
    target: str = "xc7z020"
    profile: str = "fine"
    clock_mhz: float | None = None
    runtime_geometry: bool = False
    shell: str = "stream"
    baud: int = DEFAULT_BAUD
    folded: bool = False
    cores: int = 1

    def __post_init__(self) -> None:
        if self.kernel not in KERNELS:
            raise ValueError(f"kernel must be one of {', '.join(KERNELS)}, not {self.kernel!r}")
        if self.profile not in PROFILES:
            raise ValueError(f"profile must be one of {', '.join(PROFILES)}, not {self.profile!r}")
        shells = (*SHELLS, SERIAL)
        if self.shell not in shells:
            raise ValueError(f"shell must be one of {', '.join(shells)}, not {self.shell!r}")
        if not 1 <= self.ii <= LARGEST_II:
            raise ValueError(f"ii must be between 1 and {LARGEST_II} clock cycles, not {self.ii}")
        if not 1 <= self.cores <= LARGEST_TEAM:
            raise ValueError(f"cores must be between 1 and {LARGEST_TEAM}, not {self.cores}")
        if self.clock_mhz is not None and not 0 < self.clock_mhz <= LARGEST_CLOCK_MHZ:
            limit = f"{LARGEST_CLOCK_MHZ:g} MHz"
            raise ValueError(f"clock must be between 0 and {limit}, not {self.clock_mhz}")
        target(self.target)
        self._check_together()

    def _check_together(self) -> None:
        if self.cores > 1 and not self.folded:
            raise ValueError(f"cores must be 1 without folded, not {self.cores}")
        if self.runtime_geometry and self.folded:
            raise ValueError(
                "a folded core has its geometry built in: runtime_geometry must be False"
            )
        if self.runtime_geometry and self.shell == SERIAL:
            raise ValueError("the serial link loads no geometry: runtime_geometry must be False")
