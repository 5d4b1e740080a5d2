"""What can be said of a robot before any hardware is made: what `check` prints."""

import math
from dataclasses import asdict, dataclass
from itertools import combinations

import numpy as np

from solver_ref.conditioning import Conditioning, conditioning, rank_tolerance
from solver_ref.domain import corner_poses, level_poses, sample_poses
from solver_ref.errors import InputError
from solver_ref.finding import Finding
from solver_ref.findings import describe_directions, find
from solver_ref.kinematics import attachment_points, joint_values
from solver_ref.loop_findings import loop_findings, reachable
from solver_ref.mechanisms import loops_of
from solver_ref.robot import Robot


@dataclass(frozen=True, kw_only=True)
class Clearance:
    """Two cables (counted from 1) and how near they come to each other (m)."""

    cables: tuple[int, int]
    distance: float


@dataclass(frozen=True, kw_only=True)
class Analysis:
    """The facts of a robot and what was found.

    `joints`: how many are measured; `cables`: how many of them are lengths; `unknowns`: coordinates
    of a pose; `full_rank`: min(joints, unknowns); `mobility`: directions left at the best pose when
    all joints are held; `determined`: whether the joints determine the pose by themselves, else
    `closure` names what joins them; `rank_tolerance`: singular values up to it are none; `home`,
    `level`, `workspace`: the conditioning there; `free_directions`: what the joints leave open at
    home, in words; `lengths`: smallest and largest of each joint, in its unit of `units`;
    `clearances`: pairs of cables of a spatial or point robot without a common end, nearest first.
    """

    robot: str
    digest: str
    motion: str
    closure: str
    kind: str
    joints: int
    cables: int
    unknowns: int
    full_rank: int
    mobility: int
    determined: bool
    characteristic_length: float
    samples: int
    seed: int
    rank_tolerance: float
    home: Conditioning
    level: Conditioning
    workspace: Conditioning
    free_directions: tuple[str, ...]
    lengths: tuple[tuple[float, float], ...]
    units: tuple[str, ...]
    clearances: tuple[Clearance, ...]
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing was found that makes the robot unsolvable."""
        return not any(finding.severity == "error" for finding in self.findings)

    def as_dict(self) -> dict[str, object]:
        """Plain values for JSON; a number that is not finite becomes None."""
        return {"ok": self.ok} | _plain(asdict(self))


def analyse(robot: Robot, *, samples: int = 4096, seed: int = 0) -> Analysis:
    """Analyse a robot on `samples` random poses, as many level ones, home and all corners.

    InputError names a cable that has no length in the whole workspace.
    """
    rng = np.random.default_rng(seed)
    loops = loops_of(robot)
    home = np.array(robot.workspace.home)
    corners = corner_poses(robot)
    level = np.vstack([level_poses(robot, samples, rng), _level(robot, corners)])
    declared = np.vstack([home, sample_poses(robot, samples, rng), corners])
    level, everywhere = (reachable(loops, robot, poses) for poses in (level, declared))
    at_level, at_all = conditioning(robot, level), conditioning(robot, everywhere)
    lengths = _known_lengths(robot, everywhere)
    free = describe_directions(robot, home)
    joints, unknowns = len(robot.joint_names), len(robot.free)
    return Analysis(
        robot=robot.name,
        digest=robot.digest,
        motion=robot.motion,
        closure=robot.closure,
        kind=robot.kind,
        joints=joints,
        cables=len(robot.cables),
        unknowns=unknowns,
        full_rank=min(joints, unknowns),
        mobility=unknowns - at_all.rank[1],
        determined=at_all.rank[1] == unknowns,
        characteristic_length=robot.characteristic_length,
        samples=samples,
        seed=seed,
        rank_tolerance=rank_tolerance(robot),
        home=conditioning(robot, home[None]),
        level=at_level,
        workspace=at_all,
        free_directions=free,
        lengths=tuple(zip(lengths.min(axis=0).tolist(), lengths.max(axis=0).tolist(), strict=True)),
        units=robot.joint_units,
        clearances=clearances(robot, everywhere),
        findings=find(
            robot,
            level=at_level,
            workspace=at_all,
            free=free,
            poses=everywhere,
            lengths=lengths,
            others=loop_findings(robot, declared) if loops else (),
        ),
    )


def _known_lengths(robot: Robot, poses: np.ndarray) -> np.ndarray:
    """What the joints measure (N, joints) at those of the poses where all cables have a length.

    InputError names a cable that no pose gives a length.
    """
    # Inside its pulley, or right below one that swivels, an attachment leaves the cable no length.
    with np.errstate(divide="ignore", invalid="ignore"):
        lengths = joint_values(robot, poses)
    known = np.isfinite(lengths)
    if not known.all(axis=-1).any():
        cable = int(known.sum(axis=0).argmin())
        raise InputError(
            robot.name,
            f"cable[{cable + 1}].pulley",
            wrong="has the attachment inside it, as far as the workspace goes",
            expected="a smaller pulley or one elsewhere",
            got=f"the radius {robot.cables[cable].pulley.radius:g} m",
        )
    return lengths[known.all(axis=-1)]


def _level(robot: Robot, poses: np.ndarray) -> np.ndarray:
    return poses[~poses[:, robot.translations :].any(axis=1)]


def clearances(robot: Robot, poses: np.ndarray) -> tuple[Clearance, ...]:
    """How near each pair of cables comes over poses (N, coordinates), nearest first.

    Cables are straight lines without thickness. Pairs with a common end are left out, and so are
    planar robots, whose cables run in layers that the robot file does not tell.
    """
    if robot.motion.startswith("planar"):
        return ()
    pairs = [
        (i, j)
        for i, j in combinations(range(len(robot.cables)), 2)
        if not np.array_equal(robot.anchors[i], robot.anchors[j])
        and not np.array_equal(robot.attachments[i], robot.attachments[j])
    ]
    if not pairs:
        return ()
    ends = attachment_points(robot, poses)
    i, j = np.array(pairs).T
    near = segment_distance(robot.anchors[i], ends[:, i], robot.anchors[j], ends[:, j]).min(axis=0)
    found = [
        Clearance(cables=(a + 1, b + 1), distance=float(distance))
        for (a, b), distance in zip(pairs, near, strict=True)
    ]
    return tuple(sorted(found, key=lambda clearance: clearance.distance))


def segment_distance(p1: np.ndarray, p2: np.ndarray, q1: np.ndarray, q2: np.ndarray) -> np.ndarray:
    """The distance between the segments p1 p2 and q1 q2, shapes (..., 3) to (...).

    Closest points by clamping (Ericson, Real-Time Collision Detection, section 5.1.9).
    """
    d1, d2, r = p2 - p1, q2 - q1, p1 - q1
    a, e, b = (d1 * d1).sum(-1), (d2 * d2).sum(-1), (d1 * d2).sum(-1)
    c, f = (d1 * r).sum(-1), (d2 * r).sum(-1)
    cross = a * e - b * b
    # Parallel segments: any point of the first will do, and the clamps below find the nearest.
    s = np.clip(_ratio(b * f - c * e, cross), 0.0, 1.0)
    t = np.clip(_ratio(b * s + f, e), 0.0, 1.0)
    s = np.clip(_ratio(b * t - c, a), 0.0, 1.0)
    return np.linalg.norm(r + s[..., None] * d1 - t[..., None] * d2, axis=-1)


def _ratio(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a / b, and 0 where b is 0."""
    return np.divide(a, b, out=np.zeros(np.broadcast_shapes(a.shape, b.shape)), where=b != 0)


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
