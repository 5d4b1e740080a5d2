"""Robots as JSON keeps them, in manifests: the facts of `dataclasses.asdict`, and back."""

from solver_ref.dynamics.links import Arm, Friction, Limits, Link, Tip
from solver_ref.dynamics.planar_links import ArmBody, LegDynamics
from solver_ref.parts import Cable, Drum, Pulley, Stiffness
from solver_ref.robot import Accuracy, Joint, Platform, Robot, Workspace


def from_facts(facts: dict[str, object]) -> Robot:
    """The robot of `dataclasses.asdict`, as JSON keeps it. KeyError or TypeError if it is none."""
    cables = tuple(_cable(entry) for entry in facts["cables"])
    parts = {
        "platform": Platform(**_values(facts["platform"])),
        "workspace": Workspace(**_values(facts["workspace"])),
        "accuracy": Accuracy(**facts["accuracy"]),
        "cables": cables,
        "joints": tuple(Joint(**_values(entry)) for entry in facts.get("joints", ())),
        "arm": _arm(facts.get("arm")),
        "dynamics": _dynamics(facts.get("dynamics")),
    }
    rest = {key: _frozen(value) for key, value in facts.items() if key not in parts}
    return Robot(**rest, **parts)


def _cable(facts: dict[str, object]) -> Cable:
    parts = {"pulley": Pulley, "stiffness": Stiffness, "drum": Drum}
    values = _values(facts)
    for key, part in parts.items():
        if values.get(key) is not None:
            values[key] = part(**_values(values[key]))
    return Cable(**values)


def _arm(facts: dict[str, object] | None) -> Arm | None:
    if facts is None:
        return None
    links = [
        _values(link)
        | {"limits": Limits(**_values(link["limits"]))}
        | {"friction": Friction(**_values(link["friction"]))}
        for link in facts["links"]
    ]
    parts = {"links": tuple(Link(**link) for link in links), "tip": Tip(**_values(facts["tip"]))}
    return Arm(**_values({key: facts[key] for key in facts if key not in parts}), **parts)


def _dynamics(facts: dict[str, object] | None) -> LegDynamics | None:
    if facts is None:
        return None
    arms = {name: ArmBody(**_values(facts[name])) for name in ("active", "passive")}
    return LegDynamics(**_values({key: facts[key] for key in facts if key not in arms}), **arms)


def _values(facts: dict[str, object]) -> dict[str, object]:
    return {key: _frozen(value) for key, value in facts.items()}


def _frozen(value: object) -> object:
    return tuple(_frozen(item) for item in value) if isinstance(value, list | tuple) else value
