"""The value objects that describe a robot, all in SI units: m, kg, N, rad, s.

They hold what a robot file says and nothing that was computed from it; `solver_ref.robot_file`
reads and checks the file.
"""

import hashlib
import json
import math
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property

import numpy as np

from solver_ref.dynamics.links import Arm
from solver_ref.dynamics.planar_links import LegDynamics
from solver_ref.parts import Cable, Vector

Matrix = tuple[Vector, Vector, Vector]
Numbers = tuple[tuple[str, float | tuple[float, ...]], ...]
"""Numbers and vectors by their name."""

NEWER = (
    "elongation",
    "sample_rate",
    "joints",
    "geometry",
    "chains",
    "ends",
    "equations",
    "arm",
    "dynamics",
)
"""Fields of a robot that its digest leaves out where they have their default."""


@dataclass(frozen=True, kw_only=True)
class Motion:
    """What a platform can do: the coordinates of its pose, translations first.

    `free` are their indices among the spatial six (x, y, z, rx, ry, rz); `normal` is the axis
    (0, 1, 2 for x, y, z) across the plane of a planar motion, None for the others.
    """

    coordinates: tuple[str, ...]
    free: tuple[int, ...]
    normal: int | None = None

    @property
    def translations(self) -> int:
        """How many of the coordinates are positions (m); the others are rotations (rad)."""
        return sum(index < 3 for index in self.free)

    @property
    def rotations(self) -> int:
        """How many of the coordinates are rotations (rad)."""
        return len(self.free) - self.translations


MOTIONS: dict[str, Motion] = {
    "spatial": Motion(coordinates=("x", "y", "z", "rx", "ry", "rz"), free=(0, 1, 2, 3, 4, 5)),
    "planar-xy": Motion(coordinates=("x", "y", "theta"), free=(0, 1, 5), normal=2),
    # theta turns about +y, so that (z, x, y) is right-handed and R is the usual Ry(theta).
    "planar-xz": Motion(coordinates=("x", "z", "theta"), free=(0, 2, 4), normal=1),
    "point": Motion(coordinates=("x", "y", "z"), free=(0, 1, 2)),
    "point-xy": Motion(coordinates=("x", "y"), free=(0, 1), normal=2),
    "point-xz": Motion(coordinates=("x", "z"), free=(0, 2), normal=1),
}

# How the coordinates are determined. `lengths`: by the lengths alone (a determined robot).
# The others name what closes an under-determined robot: a measured attitude, the balance of
# forces, or nothing but the smallest step from the start.
CLOSURES: tuple[str, ...] = ("lengths", "attitude", "equilibrium", "minimum-norm")


# What a robot can measure beside its cable lengths. `attitude`: the whole rotation vector;
# `inclinometer`: its two horizontal components; `tension`: the pull of every cable at its winch;
# `temperature`: of the cables.
SENSORS: tuple[str, ...] = ("attitude", "inclinometer", "tension", "temperature")


@dataclass(frozen=True, kw_only=True)
class Platform:
    """The moving body. None stands for what the robot file does not say.

    `mass` (kg); `com` (m, platform frame); `inertia` (kg m^2, 3x3, about the centre of mass, in
    the axes of the platform frame; of a planar platform only the entry of the plane's normal
    counts).
    """

    mass: float | None = None
    com: Vector = (0.0, 0.0, 0.0)
    inertia: Matrix | None = None


@dataclass(frozen=True, kw_only=True)
class Joint:
    """A measured joint that has limits: a length or an angle, by its name in CSV files and ports.

    `unit`: `m` or `rad`; `limits`: the least and largest value.
    """

    name: str
    unit: str
    limits: tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Workspace:
    """The poses for which hardware is made.

    `position`: (lowest, highest) in m for each translational coordinate, in the order of the
    robot's own coordinates. `tilt`: the largest norm of the rotation (rad; 0 for a point).
    `home`: the cold-start pose, one number for each coordinate (m, rad). `start_error`: how far
    (m, rad, as norms) a start may be from the truth where accuracy and iterations are promised.
    """

    position: tuple[tuple[float, float], ...]
    tilt: float
    home: tuple[float, ...]
    start_error: tuple[float, float] = (0.05, 0.05)


@dataclass(frozen=True, kw_only=True)
class Accuracy:
    """What is asked of the results.

    `length` (m): the largest length residual of a solve, and the largest error of other lengths.
    `residual_limit` (m): with more lengths than unknowns, a residual above it is no solution.
    """

    length: float = 10e-6
    residual_limit: float = 1e-3


@dataclass(frozen=True, kw_only=True)
class Robot:
    """A robot as its file describes it, in SI units. Two equal robots have one digest.

    `kind` is that of a mechanism (`solver_ref.mechanisms`), `motion` and `closure` are words of
    `MOTIONS` and `CLOSURES`; `gravity` is in m/s^2, base frame; `sensors` are words of `SENSORS`;
    `elongation` is the law by which cables stretch, a word of `solver_ref.elongation.LAWS`;
    `sample_rate` (Hz) is how often its lengths are measured where they are tracked;
    `joints` are what is measured, where that has limits or is no cable's length; `euler` is a
    convention of `solver_ref.euler` in which files have rotations, or empty; `source` says where
    the numbers come from. Both change nothing inside.

    A mechanism without cables has loop equations (`solver_ref.loops`): `geometry` and `chains` are
    their numbers by name, `ends` (m, platform frame) where they hold the platform, `equations` the
    text of a user's own; `dynamics` its masses, where its file has them. Or it is a serial arm:
    `arm` has its links.
    """

    name: str
    kind: str
    motion: str
    closure: str
    gravity: Vector
    platform: Platform
    cables: tuple[Cable, ...]
    workspace: Workspace
    accuracy: Accuracy = Accuracy()
    sensors: tuple[str, ...] = ()
    elongation: str = "integrated"
    sample_rate: float = 10_000.0
    joints: tuple[Joint, ...] = ()
    geometry: Numbers = ()
    chains: tuple[Numbers, ...] = ()
    ends: tuple[Vector, ...] = ()
    equations: str = ""
    arm: Arm | None = None
    dynamics: LegDynamics | None = None
    euler: str = field(default="", compare=False)
    source: str = field(default="", compare=False)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The names of the coordinates of a pose, translations first."""
        return MOTIONS[self.motion].coordinates

    @property
    def free(self) -> tuple[int, ...]:
        """The indices of those coordinates among the spatial six (x, y, z, rx, ry, rz)."""
        return MOTIONS[self.motion].free

    @property
    def translations(self) -> int:
        """How many coordinates are positions."""
        return MOTIONS[self.motion].translations

    @property
    def rotations(self) -> int:
        """How many coordinates are rotations."""
        return MOTIONS[self.motion].rotations

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The names of what is measured: of the joints, or `L1` ... for the cables' lengths."""
        lengths = (f"L{i + 1}" for i in range(len(self.cables)))
        return tuple(joint.name for joint in self.joints) or tuple(lengths)

    @property
    def joint_units(self) -> tuple[str, ...]:
        """What each joint is measured in: `m` or `rad`."""
        return tuple(joint.unit for joint in self.joints) or ("m",) * len(self.cables)

    @property
    def determined(self) -> bool:
        """Whether there are at least as many joints as coordinates (a count, not a rank).

        A serial arm has no pose to find.
        """
        return self.arm is not None or len(self.joint_names) >= len(self.free)

    @cached_property
    def anchors(self) -> np.ndarray:
        """The anchors, shape (cables, 3), m, base frame; read-only."""
        return _read_only([cable.anchor for cable in self.cables])

    @cached_property
    def attachments(self) -> np.ndarray:
        """The attachments, or the `ends`, shape (cables, 3), m, platform frame; read-only."""
        return _read_only([*self.ends, *(cable.attachment for cable in self.cables)])

    @property
    def characteristic_length(self) -> float:
        """The rms distance of the attachments from the platform origin (m); 1 where it is zero.

        Rotations and moments are scaled by it.
        """
        radii = [math.hypot(*attachment) for attachment in self.attachments.tolist()]
        return math.hypot(*radii) / math.sqrt(len(radii) or 1) or 1.0

    @property
    def position_bounds(self) -> tuple[tuple[float, float], ...]:
        """The position box grown by the start error (m): a pose beyond it is out of range."""
        margin = self.workspace.start_error[0]
        return tuple((low - margin, high + margin) for low, high in self.workspace.position)

    @property
    def tilt_bound(self) -> float:
        """The largest rotation grown by the start error (rad); 0 for a point."""
        return self.workspace.tilt + self.workspace.start_error[1] if self.rotations else 0.0

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of everything that changes hardware or answers, in SI units."""
        facts = asdict(self)
        del facts["source"], facts["euler"]
        for name in NEWER:
            if getattr(self, name) == self.__dataclass_fields__[name].default:  # the usual one
                del facts[name]
        text = json.dumps(facts, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()

    def with_options(
        self,
        *,
        closure: str | None = None,
        accuracy: float | None = None,
        elongation: str | None = None,
        sample_rate: float | None = None,
    ) -> "Robot":
        """The same robot with another closure, asked accuracy (m), law of elongation or rate (Hz)
        at which its lengths are sampled.

        Raises ValueError, in a full sentence, for a closure that does not fit the robot or an
        accuracy that is not a positive number within the residual limit.
        """
        robot = self
        if closure is not None:
            robot = replace(robot, closure=closure)
            problem = closure_problem(robot)
            if problem:
                raise ValueError(f"the closure must be {problem}, not {closure}")
        if accuracy is not None:
            limit = self.accuracy.residual_limit
            if not 0 < accuracy <= limit:
                raise ValueError(f"the accuracy must be above 0 and at most {limit} m: {accuracy}")
            robot = replace(robot, accuracy=replace(robot.accuracy, length=accuracy))
        if sample_rate is not None:
            robot = replace(robot, sample_rate=sample_rate)
        return robot if elongation is None else replace(robot, elongation=elongation)


def closure_problem(robot: Robot) -> str | None:
    """What the closure of `robot` would have to be, or None where it is good as it is."""
    measured, unknowns = len(robot.joint_names), len(robot.free)
    what = "lengths" if robot.cables else "joints"
    if robot.determined:
        allowed, why = ["lengths"], f"{measured} {what} determine {unknowns} coordinates"
    else:
        allowed = [closure for closure in CLOSURES if closure != "lengths"]
        why = f"{measured} {what} do not determine {unknowns} coordinates"
        if robot.platform.mass is None or not robot.cables:
            allowed.remove("equilibrium")
            why += f", and equilibrium needs {'the mass' if robot.cables else 'cables'}"
    return None if robot.closure in allowed else f"{' or '.join(allowed)} ({why})"


def _read_only(rows: list[Vector]) -> np.ndarray:
    array = np.array(rows, dtype=np.float64)
    array.setflags(write=False)
    return array
