"""The cables of a CASPR model, from `*_cables.xml`."""

from __future__ import annotations

from decimal import Decimal

from solver_ref.errors import shown
from solver_ref.importing.caspr_body import Body
from solver_ref.importing.draft import ZERO, Link, Triple, minus, plus
from solver_ref.importing.xml_node import Node
from solver_ref.robot import MOTIONS

PULLEY = "base_rotating_pulley"


def choose_set(root: Node, wanted: str | None) -> tuple[str, list[Node]]:
    """The name and the cables of the cable set `wanted`, or of the file's default one.

    InputError for a set that there is not, and for what is no ideal cable, by its name.
    """
    sets = {node.attribute("id"): node for node in root.children("cable_set")}
    name = wanted if wanted is not None else root.attribute("default_cable_set")
    if name not in sets:
        key = "cable_set" if wanted is not None else "default_cable_set"
        expected = f"one of {', '.join(sets)}" if sets else "a <cable_set>"
        raise root.error(key, wrong="is unknown", expected=expected, got=shown(name))
    cables = sets[name].children()
    for cable in cables:
        if cable.tag != "cable_ideal":
            feature = "a spring" if "spring" in cable.tag else "this kind of cable"
            wrong = f"cannot be represented: {feature}"
            raise cable.error("", wrong=wrong, expected="<cable_ideal>", got=f"<{cable.tag}>")
    return name, cables


def read_cable(cable: Node, body: Body) -> Link:
    """One ideal cable from the base to the platform, anchors counted from the body's origin."""
    properties = cable.child("properties")
    base, platform = _ends(cable)
    pulley = None
    if base.tag == PULLEY:
        anchor = base.numbers("fixed_location", 3)
        pulley = (base.number("pulley_radius"), base.numbers("cable_entry_vector", 3))
    else:
        anchor = _place(base, 0)
    attachment = _place(platform, 1)
    if _counts_from_com(cable):
        attachment = plus(attachment, body.com)
    anchor = minus(anchor, body.origin)
    if not body.joint.turns:  # the attachment moves as the origin does
        anchor, attachment = minus(anchor, attachment), ZERO
    anchor, attachment = _in_plane(cable, body, anchor, attachment, pulley)
    return Link(
        label=cable.attribute("name", ""),
        anchor=anchor,
        attachment=attachment,
        tension_min=_force(properties, "force_min"),
        tension_max=_force(properties, "force_max"),
        pulley=pulley,
    )


def _ends(cable: Node) -> tuple[Node, Node]:
    points = cable.child("attachments").children()
    if len(points) != 2:
        feature = ": a cable over several points" if len(points) > 2 else ""
        expected = "two attachments, one at the base and one at the platform"
        raise cable.error(
            "attachments",
            wrong=f"cannot be represented{feature}",
            expected=expected,
            got=str(len(points)),
        )
    for point, known in zip(points, (("attachment", PULLEY), ("attachment",)), strict=True):
        if point.tag not in known:
            wrong = "cannot be represented: this kind of attachment"
            expected = " or ".join(f"<{name}>" for name in known)
            raise point.error("", wrong=wrong, expected=expected, got=f"<{point.tag}>")
    return points[0], points[1]


def _place(point: Node, link: int) -> Triple:
    if point.number("link") != link:
        body = "1, the platform" if link else "0, the base"
        wrong = "cannot be represented: a cable that does not lead from the base to the platform"
        raise point.error("link", wrong=wrong, expected=body, got=point.text("link"))
    return point.numbers("location", 3)


def _counts_from_com(cable: Node) -> bool:
    reference = cable.attribute("attachment_reference").lower()
    if reference not in ("com", "joint"):
        expected = "com or joint"
        raise cable.error(
            "attachment_reference", wrong="is unknown", expected=expected, got=shown(reference)
        )
    return reference == "com"


def _in_plane(
    cable: Node,
    body: Body,
    anchor: Triple,
    attachment: Triple,
    pulley: tuple[Decimal, Triple] | None,
) -> tuple[Triple, Triple]:
    """The two ends in the plane of a planar motion; InputError for a cable that leaves it."""
    normal = MOTIONS[body.joint.motion].normal
    if normal is None:
        return anchor, attachment
    across = [anchor[normal] - attachment[normal], *([pulley[1][normal]] if pulley else [])]
    if any(across):
        wrong = "cannot be represented: a cable that leaves the plane of the motion"
        expected = f"the same {'xyz'[normal]} at both ends, and none of a pulley's entry vector"
        got = " and ".join(str(x) for x in across)
        raise cable.error("attachments", wrong=wrong, expected=expected, got=got)
    flat = [
        tuple(Decimal(0) if i == normal else x for i, x in enumerate(point))
        for point in (anchor, attachment)
    ]
    return flat[0], flat[1]


def _force(properties: Node, name: str) -> Decimal | None:
    """A limit of the tension (N); None where it is infinite."""
    if properties.text(name).lower().lstrip("+") in ("inf", "infinity"):
        return None
    return properties.number(name)
