"""A small CASPR model for tests, to be edited into good and bad ones."""

from pathlib import Path

BODIES = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE bodies_system SYSTEM "../../templates/bodies.dtd">
<bodies_system>
  <links>
    <link_rigid num="1" name="box">
      <joint type="SPATIAL_EULER_XYZ" q_initial="0 0 1 0 0 0"
             q_min="-2 -2 0 -1 -1 -1" q_max="2 2 2 1 1 1"/>
      <physical>
        <mass>2</mass><com_location>0.01 0.02 0.03</com_location>
        <inertia ref="com">
          <Ixx>1</Ixx><Iyy>1.5</Iyy><Izz>2</Izz><Ixy>0</Ixy><Ixz>0.1</Ixz><Iyz>0</Iyz>
        </inertia>
      </physical>
      <parent><num>0</num><location>0 0 0.5</location></parent>
    </link_rigid>
  </links>
</bodies_system>
"""
CABLE = """
<cable_ideal name="{name}" attachment_reference="{reference}">
  <properties><force_min>1</force_min><force_max>100</force_max></properties>
  <attachments>
    <attachment><link>0</link><location>{anchor}</location></attachment>
    <attachment><link>1</link><location>{attachment}</location></attachment>
  </attachments>
</cable_ideal>
"""
ANCHORS = ["-3 -3 4", "3 -3 4", "3 3 4", "-3 3 4", "-3 -3 0", "3 -3 0", "3 3 0", "-3 3 0"]
ATTACHMENTS = [
    *("0.3 -0.2 0.1", "0.2 0.3 0.1", "-0.3 0.2 0.1", "-0.2 -0.3 0.1"),
    *("-0.3 -0.2 -0.1", "0.3 -0.2 -0.1", "0.3 0.2 -0.1", "-0.3 0.2 -0.1"),
]


def cables(*, reference: str = "joint") -> str:
    """Eight cables, in the set `eight`; the set `six` has the first six of them."""
    texts = [
        CABLE.format(name=f"cable {i}", reference=reference, anchor=anchor, attachment=attachment)
        for i, (anchor, attachment) in enumerate(zip(ANCHORS, ATTACHMENTS, strict=True), 1)
    ]
    sets = {"eight": texts, "six": texts[:6]}
    parts = [f'<cable_set id="{name}">{"".join(own)}</cable_set>' for name, own in sets.items()]
    return f'<cables default_cable_set="eight">{"".join(parts)}</cables>'


def write_model(
    folder: Path, *, bodies: str = BODIES, cable_text: str | None = None, points: str = ""
) -> Path:
    """The model as files; the path of its bodies."""
    path = folder / "box_bodies.xml"
    path.write_text(bodies, encoding="utf-8")
    text = cables() if cable_text is None else cable_text
    (folder / "box_cables.xml").write_text(text, encoding="utf-8")
    if points:
        text = f"<trajectories><joint_trajectories>{points}</joint_trajectories></trajectories>"
        (folder / "box_trajectories.xml").write_text(text, encoding="utf-8")
    return path
