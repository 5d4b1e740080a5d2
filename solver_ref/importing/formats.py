"""The formats that can be imported, in the order in which they are tried."""

from solver_ref.importing import caspr, klipper, linuxcnc, urdf
from solver_ref.importing.format import Format

FORMATS: tuple[Format, ...] = (caspr.FORMAT, klipper.FORMAT, linuxcnc.FORMAT, urdf.FORMAT)
