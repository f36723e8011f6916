"""URDF: the robot description of ROS, read into a System.

    link                    -> Body: <inertial> gives mass, com and inertia (turned into link axes), <visual> the shapes, <collision>
                               those that collide (none of a link without, where any link of the robot has one)
    fixed                   -> Fixed
    revolute, continuous    -> Revolute about <axis>, (1, 0, 0) where there is none
    prismatic               -> Prismatic along <axis>
    planar                  -> Planar, <axis> being the normal of its plane
    floating                -> Free
    limit, dynamics, mimic  -> limits, effort_limit, velocity_limit; damping, friction; Mimic, chains composed

q = 0 is the pose as described, X_W,child = X_W,parent X_origin. A joint's frame sits at the child's origin with <axis>
for z, and has the child's axes where <axis> is its z, or no axis is needed. <collision> also makes contacts with the ground where
they are asked for (``urdf_contacts``); an SRDF names links that do not collide (``srdf``). <gazebo>, <transmission>,
<safety_controller>, <calibration> and whatever the format does not know are passed over.

Source: http://wiki.ros.org/urdf/XML. SI units; rpy turns about the fixed axes x, y, z in this order.
"""

from __future__ import annotations

import math
import os
import warnings
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Literal

import numpy as np

from nexdyn.errors import InputError, NexDynWarning, is_one_of, unknown
from nexdyn.io.srdf import disabled_pairs
from nexdyn.io.urdf_contacts import add_contacts
from nexdyn.io.urdf_links import ZERO, Link, LinkReader, Remarks, Vector, origin, refused, turn
from nexdyn.io.urdf_meshes import MeshFinder
from nexdyn.io.urdf_xml import MAX_NUMBER, Node, parse_xml, read_bytes, shown
from nexdyn.joints import JOINTS
from nexdyn.model.body import Body
from nexdyn.model.joint import Mimic
from nexdyn.model.system import System
from nexdyn.results.atomic import PathLike
from nexdyn.spatial.rotations import quaternion

Base = Literal["fixed", "free"]

GRAVITY = (0.0, 0.0, -9.81)
KINDS = {
    "fixed": "fixed",
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "planar": "planar",
    "floating": "free",
}
SINGLE = ("revolute", "continuous", "prismatic")
"""Joint types of one degree of freedom."""

_X, _Y, _Z = _AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_SHOWN = 8  # names that a message lists
_MANY = 1000  # names among which a message looks for the nearest one


def load_urdf(
    path: PathLike,
    base: Base = "fixed",
    mimic: bool = True,
    strict: bool = False,
    package_dirs: Iterable[PathLike] | PathLike = (),
    contacts: Mapping[str, Any] | None = None,
    srdf: PathLike | None = None,
) -> System:
    """The robot in a URDF file, in its zero configuration, with gravity (0, 0, −9.81) m/s².

    base: "fixed" welds the root link to the ground, "free" leaves it floating, by a joint named "root_joint"; under
        "fixed" a root link called world or ground that carries nothing is the ground itself.
    mimic: joints with <mimic> follow their leader; False frees them.
    strict: refuse unphysical inertias, which are otherwise kept as written and named in a NexDynWarning.
    package_dirs: where packages of meshes lie, besides the directories above the file.
    contacts: arguments of PlaneContact, like {"stiffness": 2e5, "friction": 0.8}, with which the collision shapes of all links, or of
        "links" by names or patterns, touch the ground's xy-plane; or a "foundation" [N/m³], and arguments of Contact; None: none does.
    srdf: a file that names pairs of links that are not tested for collisions.

    Raises FileError with file, line, column, element and reason. A missing mesh is a NexDynWarning.
    """
    data = read_bytes(path)
    return _read(data, os.fspath(path), Path(path).parent, base, mimic, strict, package_dirs, contacts, srdf)


def read_urdf_text(
    text: str,
    file: str = "<text>",
    base: Base = "fixed",
    mimic: bool = True,
    strict: bool = False,
    package_dirs: Iterable[PathLike] | PathLike = (),
    contacts: Mapping[str, Any] | None = None,
) -> System:
    """As `load_urdf`, from a text; `file` is what messages call it. Meshes are looked for in `package_dirs` only."""
    return _read(text, file, None, base, mimic, strict, package_dirs, contacts)


def _read(
    data: bytes | str,
    file: str,
    directory: Path | None,
    base: Base,
    mimic: bool,
    strict: bool,
    package_dirs: Iterable[PathLike] | PathLike,
    contacts: Mapping[str, Any] | None,
    srdf: PathLike | None = None,
) -> System:
    if not is_one_of(base, ("fixed", "free")):
        raise InputError(f"base is {base!r}; 'fixed' or 'free' is needed")
    robot = parse_xml(data, file)
    if robot.tag != "robot":
        raise robot.error("this is no URDF, whose root element is <robot>")
    remarks = Remarks(file)
    nodes = _named(robot, "link")
    if not nodes:
        raise robot.error('the robot has no <link>; at least one is needed, like <link name="base"/>')
    joints = [_read_joint(node, nodes, remarks) for node in _named(robot, "joint").values()]
    root, ordered = _depth_first(nodes, joints)
    reader = LinkReader(robot, MeshFinder(directory, package_dirs), strict, remarks)
    links = {name: reader.read(nodes[name]) for name in (root, *(joint.child for joint in ordered))}
    mimics = _mimics(ordered) if mimic else {}

    name = robot.attributes.get("name", "").strip() or Path(file).stem
    try:
        system = System(name, GRAVITY)
    except InputError as error:
        raise refused(robot, error) from None
    for joint in _massless(links, ordered, mimics):
        remarks.add(Remarks.MASSLESS, f"joint {shown(joint.name)} (line {joint.node.line})")
    bodies = _body_names(links, root, base, remarks)
    apart = {} if srdf is None else disabled_pairs(srdf, links, list(links))
    _add_bodies(system, links, bodies, _poses(root, ordered), apart)
    _add_joints(system, bodies, root, ordered, mimics, base)
    if contacts is not None:
        add_contacts(system, {name: link.node for name, link in links.items()}, bodies, contacts, remarks)
    remarks.say()
    return system


# ── joints ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class _Joint:
    """A joint as read; `axis` is a unit vector in the child's axes, z where the kind has none."""

    node: Node
    name: str
    kind: str
    parent: str
    child: str
    xyz: Vector
    rpy: Vector
    axis: Vector = _Z
    data: dict[str, Any] = field(default_factory=dict)
    mimic: Mimic | None = None


def _named(robot: Node, tag: str) -> dict[str, Node]:
    """The elements of a kind by name."""
    found: dict[str, Node] = {}
    for node in robot.all(tag):
        name = node.text("name", f'<{tag} name="arm">')
        if name in found:
            raise node.error(f"a {tag} of this name exists already, on line {found[name].line}; give it another one")
        found[name] = node
    return found


def _read_joint(node: Node, links: Mapping[str, Node], remarks: Remarks) -> _Joint:
    kind = node.text("type", 'type="revolute"')
    if kind not in KINDS:
        raise node.error(str(unknown("joint type", kind[:80], KINDS)))
    parent, child = (_link_of(node, role, links) for role in ("parent", "child"))
    joint = _Joint(node, node.attributes["name"], kind, parent, child, *origin(node))
    if kind in SINGLE or kind == "planar":
        joint.axis = _axis(node)
    if kind != "fixed":
        dynamics = node.one("dynamics")
        if dynamics is not None:
            joint.data = {name: dynamics.number(name, 0.0, least=0.0) for name in ("damping", "friction")}
    if kind in SINGLE:
        joint.data |= _limits(node, kind, remarks)
        mimic = node.one("mimic")
        if mimic is not None:
            leader = mimic.text("joint", 'joint="finger"')
            joint.mimic = Mimic(leader, mimic.number("multiplier", 1.0), mimic.number("offset", 0.0))
    return joint


def _link_of(joint: Node, role: str, links: Mapping[str, Node]) -> str:
    end = joint.need(role, f'<{role} link="arm"/>')
    name = end.text("link", f'<{role} link="arm"/>')
    if name not in links:
        raise end.error(str(_unknown("link", name, links)))
    return name


def _axis(joint: Node) -> Vector:
    node = joint.one("axis")
    x, y, z = _X if node is None else node.numbers("xyz", 3, _X)
    length = math.hypot(x, y, z)
    if length < 1e-12 and node is not None:
        raise node.error(f'the axis has length {length:g}; give a direction, like xyz="0 0 1"')
    return x / length, y / length, z / length


def _limits(joint: Node, kind: str, remarks: Remarks) -> dict[str, Any]:
    """limits, effort_limit, velocity_limit; a number beyond MAX_NUMBER is how some programs write "none"."""
    node = joint.one("limit")
    found: dict[str, Any] = {}
    if node is not None:
        for name in ("effort", "velocity"):
            if name in node.attributes and (value := node.number(name, least=0.0, most=math.inf)) <= MAX_NUMBER:
                found[f"{name}_limit"] = value
    if kind == "continuous":
        return found
    who = f"joint {shown(joint.attributes['name'])} (line {joint.line})"
    if node is None or not node.attributes.keys() & {"lower", "upper"}:
        remarks.add(Remarks.UNLIMITED, who)
        return found
    lower, upper = (node.number(name, 0.0, most=math.inf) for name in ("lower", "upper"))
    if lower > upper:
        raise node.error(f"the limits are reversed: lower={lower!r} is above upper={upper!r}")
    if lower == upper:
        remarks.add(Remarks.HELD, f"{who}: {lower:g}")
    if lower >= -MAX_NUMBER or upper <= MAX_NUMBER:
        found["limits"] = (lower if lower >= -MAX_NUMBER else -math.inf, upper if upper <= MAX_NUMBER else math.inf)
    return found


def _mimics(joints: list[_Joint]) -> dict[str, Mimic]:
    """What every follower follows: a joint that follows none.

    q = m q' + o and q' = m' q'' + o' give q = m m' q'' + m o' + o.
    """
    by_name = {joint.name: joint for joint in joints}
    done: dict[str, Mimic] = {}
    for first in joints:
        chain: list[_Joint] = []
        joint = first
        while joint.mimic is not None and joint.name not in done:
            leader = by_name.get(joint.mimic.joint)
            node = joint.node.need("mimic", "")
            if leader is None:
                raise node.error(f"{_unknown('joint', joint.mimic.joint, by_name)}; mimic=False leaves this one free")
            if leader.kind not in SINGLE:
                raise node.error(
                    f"joint {shown(leader.name)} is {leader.kind}; a joint of one degree of freedom can be followed"
                )
            chain.append(joint)
            if len(chain) > len(joints):
                circle = " follows ".join(shown(j.name) for j in chain[:_SHOWN])
                raise node.error(f"the joints follow each other in a circle: {circle} …; one must lead")
            joint = leader
        for follower in reversed(chain):
            own = follower.mimic
            assert own is not None
            above = done.get(own.joint, Mimic(own.joint))
            multiplier = own.multiplier * above.multiplier
            offset = own.multiplier * above.offset + own.offset
            if not max(abs(multiplier), abs(offset)) <= MAX_NUMBER:
                raise follower.node.error("its chain of <mimic> multiplies to more than any robot needs")
            done[follower.name] = Mimic(above.joint, multiplier, offset)
    return done


# ── the tree ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _depth_first(links: Mapping[str, Node], joints: list[_Joint]) -> tuple[str, list[_Joint]]:
    """The root link, and the joints from it outwards, a branch at a time in the order of the file."""
    above: dict[str, _Joint] = {}
    below: dict[str, list[_Joint]] = defaultdict(list)
    for joint in joints:
        if joint.parent == joint.child:
            raise joint.node.error(f"it joins link {shown(joint.child)} to itself; parent and child must differ")
        if joint.child in above:
            other = above[joint.child]
            raise joint.node.error(
                f"link {shown(joint.child)} is the child of joint {shown(other.name)} (line {other.node.line}) "
                "already; a link has one parent"
            )
        above[joint.child] = joint
        below[joint.parent].append(joint)

    roots = [name for name in links if name not in above]
    if len(roots) > 1:
        names = ", ".join(shown(name) for name in roots[:_SHOWN]) + (", …" if len(roots) > _SHOWN else "")
        raise links[roots[1]].error(
            f"{len(roots)} links are no joint's child: {names}; one link is the root, join the others to the rest"
        )
    ordered: list[_Joint] = []
    waiting = below[roots[0]][::-1] if roots else []
    while waiting:
        joint = waiting.pop()
        ordered.append(joint)
        waiting += below[joint.child][::-1]
    if len(ordered) < len(joints):
        reached = {joint.name for joint in ordered}
        joint = next(joint for joint in joints if joint.name not in reached)
        circle = [joint.child]
        while above[circle[-1]].parent not in circle[:1] and len(circle) <= len(joints):
            circle.append(above[circle[-1]].parent)
        names = ", ".join(shown(name) for name in circle[:_SHOWN]) + (", …" if len(circle) > _SHOWN else "")
        raise joint.node.error(f"its links hang on each other in a circle: {names}; loops are not part of URDF")
    return roots[0], ordered


def _poses(root: str, joints: list[_Joint]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """X_W,child = X_W,parent X_origin: R_WL (3, 3) and p_WL (3,) of every link."""
    poses = {root: (np.eye(3), np.zeros(3))}
    for joint in joints:
        R_WP, p_WP = poses[joint.parent]
        poses[joint.child] = R_WP @ turn(joint.rpy), p_WP + R_WP @ joint.xyz
    return poses


def _massless(links: Mapping[str, Link], joints: list[_Joint], mimics: Mapping[str, Mimic]) -> list[_Joint]:
    """The joints that, with their followers, carry no mass: M has a row of zeros there."""
    heavy = {name for name, link in links.items() if link.mass or any(link.inertia)}
    for joint in reversed(joints):
        if joint.child in heavy:
            heavy.add(joint.parent)
    moving = [joint for joint in joints if joint.kind != "fixed"]
    loaded = {mimics[j.name].joint if j.name in mimics else j.name for j in moving if j.child in heavy}
    return [joint for joint in moving if joint.name not in mimics and joint.name not in loaded]


# ── the system ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _body_names(links: Mapping[str, Link], root: str, base: Base, remarks: Remarks) -> dict[str, str]:
    """The body that every link becomes: its own name, but ground is the world and nothing else."""
    bodies = {name: name for name in links}
    if "ground" in links:
        bodies["ground"] = _free_name("ground_link", links)
    bare = links[root].node.one("inertial") is None and not (links[root].shapes or links[root].collision)
    if base == "fixed" and bare and root in ("world", "ground"):
        bodies[root] = "ground"
    if bodies.get("ground", "ground") != "ground":
        remarks.add(Remarks.RENAMED, f"body {bodies['ground']!r} (line {links['ground'].node.line})")
    return bodies


def _add_bodies(
    system: System,
    links: Mapping[str, Link],
    bodies: Mapping[str, str],
    poses: Mapping[str, tuple[np.ndarray, np.ndarray]],
    apart: Mapping[str, tuple[str, ...]],
) -> None:
    """apart: the links with which each does not collide, by name."""
    some = any(link.collision for link in links.values())
    orientations = quaternion(np.array([poses[name][0] for name in links])).tolist()
    for i, (name, link) in enumerate(links.items()):
        if bodies[name] == "ground":
            continue
        pose = (tuple(poses[name][1].tolist()), tuple(orientations[i]))
        try:
            body = Body(
                bodies[name], link.mass, link.inertia, *pose, link.com, link.shapes, strict=link.physical,
                collision=link.collision if some else None,
                no_collision=[bodies[other] for other in apart.get(name, ()) if bodies[other] != "ground"],
            )  # fmt: skip
            if link.physical:
                system.add_body(body)
            else:
                with warnings.catch_warnings():  # the file's own warning names all of them
                    warnings.simplefilter("ignore", NexDynWarning)
                    system.add_body(body)
        except InputError as error:
            raise refused(link.node, error) from None


def _add_joints(
    system: System,
    bodies: Mapping[str, str],
    root: str,
    joints: list[_Joint],
    mimics: Mapping[str, Mimic],
    base: Base,
) -> None:
    if bodies[root] != "ground":
        name = _free_name("root_joint", {joint.name for joint in joints})
        system.add_joint(JOINTS["fixed" if base == "fixed" else "free"](name, system.ground, bodies[root]))
    for joint in joints:
        R_PC = turn(joint.rpy)
        x_b = _across(joint.axis)
        try:
            system.add_joint(
                JOINTS[KINDS[joint.kind]](
                    joint.name,
                    system.body(bodies[joint.parent]),
                    system.body(bodies[joint.child]),
                    anchor_a=joint.xyz,
                    axis_a=tuple((R_PC @ joint.axis).tolist()),
                    reference_a=tuple((R_PC @ x_b).tolist()),
                    anchor_b=ZERO,
                    axis_b=joint.axis,
                    reference_b=x_b,
                    mimic=mimics.get(joint.name),
                    **joint.data,
                )
            )
        except InputError as error:
            raise refused(joint.node, error) from None


def _across(axis: Vector) -> Vector:
    """The coordinate axis that x of the joint frame leans to: after z comes x, after x y, after y z."""
    largest = max(range(3), key=lambda i: abs(axis[i]))
    return _AXES[(largest + 1) % 3]


def _free_name(name: str, taken: Container[str]) -> str:
    """`name`, or name_2, name_3, … where it is taken."""
    return next(n for i in count(1) if (n := name if i == 1 else f"{name}_{i}") not in taken)


def _unknown(kind: str, name: str, names: Iterable[str]) -> InputError:
    """`unknown`, for names and numbers of names that may be absurd."""
    short = [n for n in names if len(n) <= 80]
    return unknown(kind, name[:80], short[:_MANY])
