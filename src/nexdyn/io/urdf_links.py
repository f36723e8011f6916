"""The links of a URDF: mass, centre of mass, inertia, what is drawn, and what collides.

    <inertial>:  mass, com = xyz of its origin, I_link = R(rpy) I Rᵀ(rpy) about the centre of mass, in link axes
    <visual>:    Box, Cylinder, Sphere, Capsule or Mesh, in the colour of its material
    <collision>: the same, without colour

Tensors are as the format has them: ixy is the element of the matrix, −∫xy dm.
"""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nexdyn.errors import InputError, warn
from nexdyn.io.urdf_meshes import MeshFinder
from nexdyn.io.urdf_xml import Node, shown
from nexdyn.model.body import unphysical
from nexdyn.model.shapes import Box, Capsule, Cylinder, Mesh, Shape, Sphere
from nexdyn.spatial.rotations import quaternion, rotation_from_euler_zyx

Vector = tuple[float, ...]

ZERO = (0.0, 0.0, 0.0)
_SHOWN = 12  # findings that one warning lists


class Remarks:
    """What a file is not refused for, one warning a kind."""

    INERTIA = "no rigid body has this inertia (the sum of two principal moments is at least the third), kept as written"
    POINT = "mass without inertia, kept as a point mass"
    RENAMED = "ground is the name of the world here, so the link called ground is"
    MESH = "mesh not on this machine; its name is kept"
    DRAWING = "visual that shows nothing, left out"
    NO_CONTACT = "collision shape that no contact with a plane has, left out"
    COLLISION = "collision shape that cannot be read, left out"
    MASSLESS = "moves nothing that has mass, so that no force gives it a finite acceleration"
    UNLIMITED = "no lower and upper limit, taken as unlimited"
    HELD = "lower and upper limit are equal, the range is empty"

    def __init__(self, file: str) -> None:
        self._file = file
        self._found: dict[str, list[str]] = defaultdict(list)

    def add(self, kind: str, finding: str) -> None:
        self._found[kind].append(finding)

    def say(self) -> None:
        for kind, found in self._found.items():
            rest = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
            text = f"{self._file}: {kind}: {'; '.join(found[:_SHOWN])}{rest}"
            warn(text)


class Link(NamedTuple):
    """A link as a body needs it; inertia is (Ixx, Iyy, Izz, Ixy, Ixz, Iyz) about `com`, in link axes."""

    node: Node
    name: str
    mass: float
    com: Vector
    inertia: Vector
    shapes: tuple[Shape, ...]
    collision: tuple[Shape, ...]
    physical: bool


class LinkReader:
    """Reads the links of one robot, whose materials and meshes it knows."""

    def __init__(self, robot: Node, meshes: MeshFinder, strict: bool, remarks: Remarks) -> None:
        self._meshes, self._strict, self._remarks = meshes, strict, remarks
        self._colors: dict[str, Vector] = {}
        local = (m for link in robot.all("link") for visual in link.all("visual") for m in visual.all("material"))
        for material in (*robot.all("material"), *local):
            name, color = material.attributes.get("name", ""), _color(material)
            if name and color is not None:
                self._colors.setdefault(name, color)

    def read(self, node: Node) -> Link:
        name = node.attributes["name"]
        shapes = tuple(shape for visual in node.all("visual") if (shape := self._shape(visual, name)) is not None)
        collision = tuple(
            shape for found in node.all("collision") if (shape := self._collision(found, name)) is not None
        )
        inertial = node.one("inertial")
        if inertial is None:
            return Link(node, name, 0.0, ZERO, (0.0,) * 6, shapes, collision, True)
        mass, com, inertia = _mass_properties(inertial)
        fault = unphysical(mass, inertia)
        point = mass > 0.0 and not any(inertia)
        if self._strict and (fault or point):
            raise inertial.error(f"{fault or f'mass {mass:g} kg without inertia'}; strict=False keeps it and warns")
        if fault or point:
            kind, reason = (Remarks.POINT, f"{mass:g} kg") if point else (Remarks.INERTIA, str(fault).partition(";")[0])
            self._remarks.add(kind, f"link {shown(name)} (line {inertial.line}): {reason}")
        return Link(node, name, mass, com, inertia, shapes, collision, physical=fault is None)

    def _collision(self, collision: Node, link: str) -> Shape | None:
        """Its shape; what is wrong with it is a remark, for it is no part of the motion."""
        try:
            return self._shape(collision, link)
        except InputError as error:
            reason = str(error).partition(": ")[2] or str(error)
            self._remarks.add(Remarks.COLLISION, f"link {shown(link)} (line {collision.line}): {reason}")
            return None

    def _shape(self, visual: Node, link: str) -> Shape | None:
        xyz, rpy = origin(visual)
        drawn = visual.tag == "visual"
        material = visual.one("material") if drawn else None
        color = None
        if material is not None:
            color = _color(material) or self._colors.get(material.attributes.get("name", ""))
        geometry = visual.need("geometry", '<geometry><box size="0.1 0.1 0.1"/></geometry>')
        solid = geometry.children[0] if geometry.children else geometry
        try:
            shape = self._geometry(solid, link, drawn)
            if isinstance(shape, str):
                kind = Remarks.DRAWING if drawn else Remarks.COLLISION
                self._remarks.add(kind, f"link {shown(link)} (line {solid.line}): {shape}")
                return None
            shape_type, sizes = shape
            pose = {"position": xyz, "orientation": tuple(quaternion(turn(rpy)).tolist()) if any(rpy) else (1.0, *ZERO)}
            return shape_type(**sizes, **pose, color=color, name=visual.attributes.get("name"))
        except InputError as error:
            raise refused(solid, error) from None

    def _geometry(self, solid: Node, link: str, drawn: bool) -> tuple[type[Shape], dict[str, object]] | str:
        """The kind of shape and its sizes, or why there is none. A mesh that does not collide is named where it is asked for."""
        sizes: dict[str, object]
        kind: type[Shape]
        match solid.tag:
            case "box":
                kind, sizes = Box, {"size": solid.numbers("size", 3)}
            case "sphere":
                kind, sizes = Sphere, {"radius": solid.number("radius")}
            case "cylinder" | "capsule":
                kind = Cylinder if solid.tag == "cylinder" else Capsule
                sizes = {"radius": solid.number("radius"), "length": solid.number("length")}
            case "mesh":
                if not solid.attributes.get("filename", "").strip():
                    return "<mesh> names no file"
                name = solid.text("filename", 'filename="package://robot/meshes/arm.stl"')
                path, complaint = self._meshes.find(name)
                if complaint and drawn:
                    where = f"link {shown(link)} (line {solid.line})"
                    self._remarks.add(Remarks.MESH, f"{where}: {shown(name)} {complaint}")
                kind, sizes = Mesh, {"path": path, "scale": solid.numbers("scale", 3, (1.0, 1.0, 1.0))}
            case "geometry":
                return "<geometry> is empty"
            case tag:
                return f"<{tag}> is no geometry of URDF"
        for name, size in sizes.items():
            if size == 0.0 or (isinstance(size, tuple) and 0.0 in size):
                return f"{name} of <{solid.tag}> is 0"
        return kind, sizes


def origin(node: Node) -> tuple[Vector, Vector]:
    """xyz [m] and rpy [rad] of the <origin> inside, zeros where there is none."""
    place = node.one("origin")
    if place is None:
        return ZERO, ZERO
    return place.numbers("xyz", 3, ZERO), place.numbers("rpy", 3, ZERO)


@lru_cache(maxsize=4096)
def turn(rpy: Vector) -> NDArray[np.float64]:
    """R_z(yaw) R_y(pitch) R_x(roll), (3, 3), not to be written to."""
    roll, pitch, yaw = rpy
    R = np.eye(3) if rpy == ZERO else rotation_from_euler_zyx(yaw, pitch, roll)
    R.setflags(write=False)
    return R


def refused(node: Node, error: InputError) -> InputError:
    """The error of the model layer with the place in the file; one that has a place already stays as it is."""
    return error if getattr(error, "file", "") else node.error(str(error))


def _mass_properties(inertial: Node) -> tuple[float, Vector, Vector]:
    """Mass, com and the six components of the inertia in link axes."""
    com, rpy = origin(inertial)
    mass = inertial.need("mass", '<mass value="1.0"/>').number("value")
    tensor = inertial.need("inertia", '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>')
    xx, yy, zz, xy, xz, yz = (tensor.number(name) for name in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz"))
    if any(rpy):
        # I_link = R I Rᵀ
        R = turn(rpy)
        I_link = R @ np.array(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))) @ R.T
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = I_link.tolist()
    return mass, com, (xx, yy, zz, xy, xz, yz)


def _color(material: Node) -> Vector | None:
    """Red, green, blue, opacity, or None where the material has no colour of its own."""
    color = material.one("color")
    if color is None:
        return None
    return tuple(min(max(part, 0.0), 1.0) for part in color.numbers("rgba", 4))
