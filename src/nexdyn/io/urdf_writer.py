"""A System as URDF, the robot description of ROS, and what that leaves out.

    Body       -> link: <inertial>, and shapes as <visual>; a capsule is a cylinder between two spheres
    Fixed, Revolute, Prismatic, Planar, Free -> fixed, revolute or continuous, prismatic, planar, floating
    Cylindrical, Universal, Cartesian        -> a joint a degree of freedom in a row, with links without mass between them
    Helical    -> continuous, and a prismatic one that mimics it

A joint of URDF sits at the origin of its child link. With A, B the joint's frames on parent P and child C, L the link's
frame in its body, which is B for joints that turn and the body's own frame otherwise (axes of the body where they will do):

    X_origin = X_LP⁻¹ X_PA X_CB⁻¹ X_CL,   axis = R_CLᵀ R_CB e_z

The only body on the ground is the root link if it floats, or is welded there as a reader of URDF does it; else the root is
a link "world" without mass. URDF has trees only, and one root.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

import numpy as np

from nexdyn.checked_calls import checked_call
from nexdyn.errors import InputError
from nexdyn.io.urdf import GRAVITY
from nexdyn.joints import JOINTS
from nexdyn.model.body import ResolvedBody
from nexdyn.model.joint import Joint, ResolvedJoint
from nexdyn.model.parameters import number
from nexdyn.model.shapes import Box, Capsule, Cylinder, Mesh, Shape, Sphere
from nexdyn.model.system import System
from nexdyn.model.topology import Arc, spanning_forest
from nexdyn.results.atomic import PathLike, file_path, written
from nexdyn.spatial.lengths import UNITS
from nexdyn.spatial.rotations import euler_zyx, rotation_matrix

NONE = sys.float_info.max
"""What stands for "no limit" where the format wants a number."""
ROOT_JOINT = "root_joint"
"""What a reader calls the joint that holds the root link."""
_AXES = _X, _Y, _Z = np.eye(3)
_SAME = 1e-12
_UPWARDS = 8
"""Directories above the file in which its meshes may lie to be named by package."""
_SHOWN = 8


class Urdf(NamedTuple):
    """The text of a file, and in words what of the system it does not say."""

    text: str
    lost: list[str]


@checked_call
def save_urdf(system: System, path: PathLike) -> list[str]:
    """Write a URDF, whole or not at all; returns, in words, what of the system it does not say.

    Raises InputError naming the joint where URDF cannot have it: one that closes a loop, is spherical, or is a constraint.
    """
    target = file_path(path, (".urdf",), "a URDF")
    made = dump_urdf(system, target.parent)
    with written(target) as temporary:
        temporary.write_text(made.text, encoding="utf-8", newline="\n")
    return made.lost


def dump_urdf(system: System, directory: PathLike | None = None) -> Urdf:
    """As :func:`save_urdf`, as a text; meshes are named as a file in `directory` finds them, absolute without one."""
    return _Writer(system, None if directory is None else Path(os.path.abspath(directory))).write()


class _Frame(NamedTuple):
    """The frame of a link in its body: R_CL (3, 3), p_CL (3,)."""

    R: np.ndarray
    p: np.ndarray


class _Step(NamedTuple):
    """One joint of URDF: its type, name suffix, axis in the joint's frame, and which degree of freedom of the joint it is."""

    kind: str
    suffix: str
    axis: np.ndarray
    freedom: int


def _steps_of(joint: Joint) -> tuple[_Step, ...]:
    """What a joint becomes; of one that is described to the ground, and not about z, its steps back from the other end."""
    cls = type(joint)
    if not joint.is_turned or joint.about_z or cls.urdf == "floating":
        return _steps(cls)
    return tuple(step._replace(axis=-step.axis) for step in reversed(_in_a_row(cls)))


def _steps(cls: type[Joint]) -> tuple[_Step, ...]:
    """What a joint becomes; nothing where URDF has neither it nor a row of joints that make it up."""
    if cls.urdf:
        return (_Step(cls.urdf, "", _AXES[2], 0),)
    return _in_a_row(cls)


def _in_a_row(cls: type[Joint]) -> tuple[_Step, ...]:
    kinds = {"turn": "revolute", "slide": "prismatic"}
    if any(step.what not in kinds for step in cls.steps):
        return ()
    several = (
        [f"_{name}" for name, _ in cls.coordinate_labels] if cls.nq > 1 else ["", "_z"]
    )  # of a screw the turn has its name
    return tuple(
        _Step(kinds[step.what], several[k], _AXES[step.axis], step.coordinate) for k, step in enumerate(cls.steps)
    )


class _Writer:
    def __init__(self, system: System, directory: Path | None) -> None:
        self.system, self.values, self.directory = system, system.values, directory
        self.lost: dict[str, list[str]] = {}
        self.robot = ET.Element("robot", name=system.name)
        self.materials: dict[tuple[float, ...], str] = {}

    def write(self) -> Urdf:
        try:
            self.system.check()
            arcs = spanning_forest(self.system).arcs
        except InputError as error:
            raise InputError(f"{self.system.name!r} cannot be a URDF, which has trees only: {error}") from None
        if not arcs:
            raise InputError(f"{self.system.name!r} has no body; a URDF has one link at least")
        frames = [self.frame(arc) for arc in arcs]
        root = self.root_arc(arcs, frames)
        world = "" if root is not None else self.world_link()
        links = [self.link(arc, frame) for arc, frame in zip(arcs, frames, strict=True)]
        joints: list[ET.Element] = []
        between: list[ET.Element] = []
        taken = {arc.name for arc in arcs} | {arc.child.name for arc in arcs}
        for a, arc in enumerate(arcs):
            if a == root:
                self.root_joint(arc)
                continue
            parent = arcs[arc.parent].child.name if arc.parent >= 0 else world
            above = frames[arc.parent] if arc.parent >= 0 else _Frame(np.eye(3), np.zeros(3))
            for joint, link in self.joint(arc, parent, above, frames[a], taken):
                joints.append(joint)
                between += [] if link is None else [link]
        for color, name in self.materials.items():
            material = ET.SubElement(self.robot, "material", name=name)
            ET.SubElement(material, "color", rgba=_text(color))
        if world:
            ET.SubElement(self.robot, "link", name=world)
        self.robot.extend([*links, *between, *joints])
        self.left_out()
        ET.indent(self.robot)
        text = ET.tostring(self.robot, encoding="unicode")
        return Urdf(f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n', self.said())

    # --- what is lost -----------------------------------------------------------------------------------------------

    def lose(self, what: str, whose: object) -> None:
        self.lost.setdefault(what, []).append(str(whose))

    def said(self) -> list[str]:
        found = []
        for what, names in self.lost.items():
            more = f", … ({len(names)} in all)" if len(names) > _SHOWN else ""
            found.append(f"{what}: {', '.join(names[:_SHOWN])}{more}")
        return found

    def left_out(self) -> None:
        """What URDF has no word for."""
        s = self.system
        alone = [name for name, force in s.forces.items() if force.part_of is None]
        for what, names in (
            ("forces", alone), ("contacts", s.contacts), ("gravities", s.gravities),
            ("couplings", s.couplings), ("drivers", s.drivers), ("markers", s.markers),
            ("measures", s.measures),
            ("names of parameters, whose values are written", s.parameters),
        ):  # fmt: skip
            for name in names:
                self.lose(what, name)
        if np.abs(s.gravity - GRAVITY).max() > 0.0:
            self.lose("gravity, which is (0, 0, -9.81) m/s² wherever a URDF is read", _shown(s.gravity))
        for joint in s.joints.values():
            numbers = joint.resolved(self.values)
            for attribute in ("stiffness", "armature"):
                if getattr(numbers, attribute).any():
                    self.lose(f"{attribute} of joints", joint.name)
            if joint.q0 is not None or joint.v0 is not None:
                self.lose("initial state of joints", joint.name)
            if joint.priority is not None:
                self.lose("priority of joints", joint.name)

    # --- links ------------------------------------------------------------------------------------------------------

    def frame(self, arc: Arc) -> _Frame:
        """Where the link's frame is in its body."""
        joint = arc.joint
        if joint is None:
            return _Frame(np.eye(3), np.zeros(3))
        if not _steps_of(joint):
            raise InputError(
                f"{joint} is {joint.kind}, which URDF does not have and no row of its joints makes up; what can be written: "
                f"{', '.join(kind for kind, cls in JOINTS.items() if _steps(cls))}"
            )
        frames = joint.tree_frames(self.values)
        turns = joint.kind not in ("fixed", "prismatic", "cartesian")
        as_joint = joint.kind in ("planar", "free", "universal") and np.abs(frames.R_BJ - np.eye(3)).max() > _SAME
        return _Frame(frames.R_BJ if as_joint else np.eye(3), frames.p_BJ if turns else np.zeros(3))

    def link(self, arc: Arc, frame: _Frame) -> ET.Element:
        body = arc.child
        if np.abs(frame.p).max() > _SAME or np.abs(frame.R - np.eye(3)).max() > _SAME:
            self.lose("frames of bodies, which URDF has at their joints", body.name)
        link = ET.Element("link", name=body.name)
        resolved = body.resolved(self.values)
        if resolved.mass or resolved.inertia.any():
            self.inertial(link, resolved, frame)
        for shape in body.shapes:
            self.drawn(link, "visual", shape.resolved(self.values), frame)
        for shape in body.collision or ():
            self.drawn(link, "collision", shape.resolved(self.values), frame)
        if body.no_collision:
            self.lose("pairs of bodies that do not collide, which an SRDF names", body.name)
        return link

    def inertial(self, link: ET.Element, body: ResolvedBody, frame: _Frame) -> None:
        """com and inertia in the link's axes: c = R_CLᵀ (c − p), I = R_CLᵀ I R_CL."""
        inertial = ET.SubElement(link, "inertial")
        com = frame.R.T @ (body.com - frame.p)
        if com.any():
            ET.SubElement(inertial, "origin", xyz=_text(com), rpy="0 0 0")
        ET.SubElement(inertial, "mass", value=_text([body.mass]))
        I = body.inertia if (frame.R == np.eye(3)).all() else frame.R.T @ body.inertia @ frame.R
        entries = {"ixx": I[0, 0], "ixy": I[0, 1], "ixz": I[0, 2], "iyy": I[1, 1], "iyz": I[1, 2], "izz": I[2, 2]}
        ET.SubElement(inertial, "inertia", {name: _text([x]) for name, x in entries.items()})

    def drawn(self, link: ET.Element, role: str, shape: Shape, frame: _Frame) -> None:
        """A shape as <visual> or as <collision>."""
        R_CS, p_CS = rotation_matrix(np.array(shape.orientation)), np.array(shape.position)
        R, p = frame.R.T @ R_CS, frame.R.T @ (p_CS - frame.p)
        for name, sizes, shift in self.geometry(shape, link.get("name", "")):
            visual = ET.SubElement(link, role, {} if shape.name is None else {"name": shape.name})
            _origin(visual, R, p + R @ shift)
            ET.SubElement(ET.SubElement(visual, "geometry"), name, sizes)
            if shape.color is not None and role == "visual":
                color = tuple(float(number(x, self.values, "color")) for x in shape.color)
                rgba = color if len(color) == 4 else (*color, 1.0)
                ET.SubElement(
                    visual, "material", name=self.materials.setdefault(rgba, f"color{len(self.materials) + 1}")
                )

    def geometry(self, shape: Shape, body: str) -> Iterator[tuple[str, dict[str, str], np.ndarray]]:
        """Element, its attributes, and its place in the shape's frame [m]."""
        here = np.zeros(3)
        match shape:
            case Box():
                yield "box", {"size": _text(shape.size)}, here
            case Sphere():
                yield "sphere", {"radius": _text([shape.radius])}, here
            case Cylinder() | Capsule():
                sizes = {"radius": _text([shape.radius]), "length": _text([shape.length])}
                yield "cylinder", sizes, here
                if isinstance(shape, Capsule):
                    self.lose("capsules, which become a cylinder and two spheres", body)
                    for end in (-0.5, 0.5):
                        yield "sphere", {"radius": _text([shape.radius])}, end * shape.length * _Z
            case Mesh():
                yield "mesh", {"filename": self.mesh(shape.path), "scale": _text(self.mesh_scale(shape, body))}, here
            case _:
                self.lose("shapes that URDF does not have (Cone, Ellipsoid, HalfSpace, HeightField, Hull)", body)

    def mesh_scale(self, shape: Mesh, body: str) -> tuple[float, ...]:
        """With the unit in it, for URDF has none: metres, or what a COLLADA file states."""
        if shape.unit is not None and shape.path.lower().endswith(".dae"):
            self.lose("units of COLLADA meshes, which are read with the unit that their file states", body)
            return tuple(shape.scale)
        return tuple(x * UNITS[shape.unit or "m"] for x in shape.scale)

    def mesh(self, path: str) -> str:
        """A name by which the file, where it will lie, finds a mesh: relative below it, else by the package above both."""
        if self.directory is None or not os.path.isabs(path):
            return path.removeprefix("unresolved:")
        mesh = Path(path)
        if mesh.is_relative_to(self.directory):
            return mesh.relative_to(self.directory).as_posix()
        for above in [*self.directory.parents][:_UPWARDS]:
            if above.name and mesh.is_relative_to(above):
                return f"package://{above.name}/{mesh.relative_to(above).as_posix()}"
        self.lose("places of meshes, which lie far from the file and are named by where they are on this machine", path)
        return path

    # --- the root -----------------------------------------------------------------------------------------------------

    def root_arc(self, arcs: list[Arc], frames: list[_Frame]) -> int | None:
        """The arc whose body is the root link, if the ground need not be a link itself."""
        on_ground = [a for a, arc in enumerate(arcs) if arc.parent < 0]
        if len(on_ground) != 1:
            return None
        arc = arcs[on_ground[0]]
        if arc.joint is None or arc.joint.kind == "free":
            return on_ground[0]
        if arc.joint.kind != "fixed" or arc.name != ROOT_JOINT:
            return None
        R, p = _origin_of(arc.joint, _Frame(np.eye(3), np.zeros(3)), frames[on_ground[0]], self.values)
        as_world = np.abs(R - np.eye(3)).max() < _SAME and np.abs(p).max() < _SAME
        return on_ground[0] if as_world else None

    def root_joint(self, arc: Arc) -> None:
        """Joint of the root link, which a URDF leaves to who reads it."""
        if arc.joint is None or arc.joint.kind == "free":
            R, p = arc.child.pose(self.values)
            self.lose("that the base floats; read it with base='free'", arc.name)
            if p.any() or np.abs(R - np.eye(3)).max() > _SAME:
                self.lose("the place where the floating base starts", _shown(p))

    def world_link(self) -> str:
        bodies = self.system.bodies
        return _free_name("world", set(bodies))

    # --- joints -----------------------------------------------------------------------------------------------------

    def joint(
        self, arc: Arc, parent: str, above: _Frame, frame: _Frame, taken: set[str]
    ) -> Iterator[tuple[ET.Element, ET.Element | None]]:
        """The joints that carry a body, each with the link without mass that follows it, if one does."""
        if arc.joint is None:
            R, p = above.R.T, -above.R.T @ above.p
            yield _joint("floating", arc.name, parent, arc.child.name, R, p), None
            if arc.child.pose(self.values)[1].any():
                self.lose("the place where a floating body starts", arc.name)
            return
        joint, steps = arc.joint, _steps_of(arc.joint)
        numbers = joint.resolved(self.values)
        R, p = _origin_of(joint, above, frame, self.values)
        R_LJ = frame.R.T @ joint.tree_frames(self.values).R_BJ
        if len(steps) > 1:
            self.lose("joints of URDF's that it lacks, which become several in a row", joint.name)
        for k, step in enumerate(steps):
            last = k == len(steps) - 1
            name = joint.name if not step.suffix else _free_name(joint.name + step.suffix, taken)
            child = arc.child.name if last else _free_name(f"{joint.name}_link{k + 1}", taken)
            made = _joint(step.kind, name, parent, child, R, p)
            self.moving(made, step, joint, numbers, R_LJ @ step.axis)
            if joint.advances and last:
                pitch = joint.own_number(self.values)
                ET.SubElement(made, "mimic", joint=joint.name, multiplier=_text([pitch]), offset="0")
            yield made, None if last else ET.Element("link", name=child)
            parent, R, p = child, np.eye(3), np.zeros(3)

    def moving(self, made: ET.Element, step: _Step, joint: Joint, numbers: ResolvedJoint, axis: np.ndarray) -> None:
        """Axis, limits, damping, friction, and whom it mimics."""
        if step.kind in ("fixed", "floating"):
            for attribute in ("damping", "friction"):
                if getattr(numbers, attribute).any():
                    self.lose(f"{attribute} of floating joints", joint.name)
            return
        ET.SubElement(made, "axis", xyz=_text(_tidy(axis)))
        follows = joint.advances and step.kind == "prismatic"  # its leader has the rest
        if not follows:
            self.dynamics(made, step, joint, numbers)
        if step.kind == "planar":
            if np.isfinite([numbers.lower, numbers.upper]).any():
                self.lose("limits of planar joints", joint.name)
            return
        i = step.freedom
        lower, upper = (-math.inf, math.inf) if follows else (float(numbers.lower[i]), float(numbers.upper[i]))
        effort, velocity = (
            (math.inf, math.inf) if follows else (float(numbers.effort_limit[i]), float(numbers.velocity_limit[i]))
        )
        limits = {"effort": effort, "velocity": velocity}
        if step.kind == "revolute" and math.isinf(lower) and math.isinf(upper):
            made.set("type", "continuous")
            limits = {name: x for name, x in limits.items() if not math.isinf(x)}
        else:
            limits = {"lower": lower, "upper": upper} | limits
        if limits:
            ET.SubElement(made, "limit", {name: _text([max(-NONE, min(NONE, x))]) for name, x in limits.items()})
        if numbers.mimic is not None:
            mimic = numbers.mimic
            values = {"multiplier": _text([mimic.multiplier]), "offset": _text([mimic.offset])}
            ET.SubElement(made, "mimic", {"joint": mimic.joint} | values)

    def dynamics(self, made: ET.Element, step: _Step, joint: Joint, numbers: ResolvedJoint) -> None:
        found = {}
        for attribute in ("damping", "friction"):
            each = getattr(numbers, attribute)
            if step.kind == "planar" and len(set(each.tolist())) > 1:
                self.lose(
                    f"{attribute} of a planar joint's degrees of freedom one by one, of which the first is written",
                    joint.name,
                )
            if each[step.freedom]:
                found[attribute] = _text([each[step.freedom]])
        if found:
            ET.SubElement(made, "dynamics", found)


# --- elements -------------------------------------------------------------------------------------------------------


def _origin_of(
    joint: Joint, above: _Frame, frame: _Frame, values: Mapping[str, float]
) -> tuple[np.ndarray, np.ndarray]:
    """R (3, 3), p (3,) of X_origin = X_PL⁻¹ X_PA X_CB⁻¹ X_CL."""
    R_PA, p_PA, R_CB, p_CB = joint.tree_frames(values)
    R_PC = R_PA @ R_CB.T
    p_PL = p_PA + R_PC @ (frame.p - p_CB)
    return above.R.T @ R_PC @ frame.R, above.R.T @ (p_PL - above.p)


def _joint(kind: str, name: str, parent: str, child: str, R: np.ndarray, p: np.ndarray) -> ET.Element:
    joint = ET.Element("joint", name=name, type=kind)
    _origin(joint, R, p)
    ET.SubElement(joint, "parent", link=parent)
    ET.SubElement(joint, "child", link=child)
    return joint


def _origin(element: ET.Element, R: np.ndarray, p: np.ndarray) -> None:
    """<origin>, where it is not the identity."""
    yaw, pitch, roll, _ = euler_zyx(R)
    rpy = np.array([roll, pitch, yaw])
    if p.any() or rpy.any():
        ET.SubElement(element, "origin", xyz=_text(p), rpy=_text(rpy))


def _tidy(axis: np.ndarray) -> np.ndarray:
    """An axis that is along a coordinate axis but for rounding, along it."""
    nearest = np.round(axis)
    return nearest if np.abs(axis - nearest).max() < 1e-15 else axis


def _free_name(name: str, taken: set[str]) -> str:
    """`name`, or name_2, name_3, … where it is taken; it is taken from then on."""
    found = next(n for k in count(1) if (n := name if k == 1 else f"{name}_{k}") not in taken)
    taken.add(found)
    return found


def _text(numbers: Iterable[Any]) -> str:
    """Numbers with the digits that read back to the same double."""
    return " ".join(repr(float(x) + 0.0).removesuffix(".0") for x in numbers)


def _shown(x: Sequence[float] | np.ndarray) -> str:
    return f"({', '.join(f'{float(part):g}' for part in x)})"
