"""Contacts of a robot with a plane, from the <collision> shapes of its URDF.

    sphere      a sphere
    capsule     a capsule
    cylinder    the capsule of its radius that ends where it does; one shorter than wide, a sphere
    box         its eight corners, points
    mesh        none, and a remark

What a contact is made of is not in a URDF: stiffness, damping and friction are given, as for `nx.PlaneContact`. With a `foundation` instead
of a stiffness all shapes touch the ground as they are, over areas: one `nx.Contact` named "ground contact".
"""

from __future__ import annotations

import fnmatch
import itertools
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from nexdyn.checked_calls import signature_of
from nexdyn.errors import InputError, unknown
from nexdyn.forces.contact_group import Contact
from nexdyn.forces.contact_law import LAW, VELOCITIES
from nexdyn.forces.plane_contact import PlaneContact
from nexdyn.io.urdf_links import Remarks, origin, refused, turn
from nexdyn.io.urdf_xml import Node, shown
from nexdyn.model.system import System

LINKS, FOUNDATION = "links", "foundation"
_OWN = ("name", "a", "b", "radius", "length", "axis", "anchor_a", "at_a")
OPTIONS = tuple(name for name in signature_of(PlaneContact).parameters if name not in _OWN)
OVER_AREAS = tuple(name for name in VELOCITIES + LAW if name not in ("stiffness", "exponent", "normal_force"))
_EXAMPLE = 'contacts={"stiffness": 2e5, "damping": 1.0, "friction": 0.8}'


def add_contacts(
    system: System, nodes: Mapping[str, Node], bodies: Mapping[str, str], given: Mapping[str, Any], remarks: Remarks
) -> None:
    """Contacts of the collision shapes of links `nodes`, whose bodies are `bodies`, with the ground.

    given: arguments of PlaneContact, or a foundation [N/m³] and arguments of Contact; and `links`, a name or pattern ("*_foot") or several:
        whose shapes. InputError."""
    wanted, options = _checked(given)
    found = {pattern: [name for name in nodes if fnmatch.fnmatchcase(name, pattern)] for pattern in wanted}
    for pattern, names in found.items():
        if not names:
            raise unknown("link of contacts", pattern, list(nodes), plural="links")
    chosen = set(itertools.chain(*found.values()))
    if FOUNDATION in options:
        _add_areas(system, {bodies[link] for link in chosen} - {"ground"}, options)
        return
    taken = set(system.forces) | set(system.joints) | set(system.bodies)
    added = 0
    for link, node in nodes.items():
        if link not in chosen or bodies[link] == "ground":
            continue
        for collision in node.all("collision"):
            for suffix, shape in _shapes(collision, link, remarks):
                name = _free(f"{link} ground{suffix}", taken)
                taken.add(name)
                try:
                    system.add_force(PlaneContact(name, bodies[link], **shape, **options))
                except InputError as error:
                    raise refused(collision, error) from None
                added += 1
    if not added:
        raise InputError(
            f"contacts: the links {', '.join(map(shown, sorted(chosen)[:8]))} have no shape that touches a plane"
        )


def _add_areas(system: System, bodies: set[str], options: dict[str, Any]) -> None:
    """One contact over areas of the collision shapes of bodies with the ground."""
    touching = [name for name, body in system.bodies.items() if name in bodies and body.colliding]
    if not touching:
        raise InputError(f"contacts: the links {', '.join(map(shown, sorted(bodies)[:8]))} have no collision shapes")
    law = {key: value for key, value in options.items() if key != FOUNDATION}
    system.add_contact(Contact("ground contact", touching, "ground", foundation_b=options[FOUNDATION], **law))


def _checked(given: Any) -> tuple[list[str], dict[str, Any]]:
    """Patterns of links, and arguments of a contact."""
    if not isinstance(given, Mapping):
        raise InputError(f"contacts is {given!r}; what they are made of is needed, like {_EXAMPLE}")
    valid = [*(OVER_AREAS if FOUNDATION in given else OPTIONS), FOUNDATION, LINKS]
    for key in given:
        if key not in valid:
            raise unknown("key of contacts", str(key), valid, plural="valid")
    if not {"stiffness", "normal_force", FOUNDATION} & set(given):
        raise InputError(f"contacts have no stiffness; write {_EXAMPLE}")
    links = given.get(LINKS, "*")
    patterns = [links] if isinstance(links, str) else list(links) if isinstance(links, Iterable) else []
    if not patterns or not all(isinstance(pattern, str) for pattern in patterns):
        raise InputError(f"links of contacts is {links!r}; names or patterns of links are needed, like '*_foot'")
    return patterns, {key: value for key, value in given.items() if key != LINKS}


def _shapes(collision: Node, link: str, remarks: Remarks) -> list[tuple[str, dict[str, Any]]]:
    """Suffix of the name, and where and how large, of each contact of a collision shape."""
    xyz, rpy = origin(collision)
    R, p = turn(rpy), np.array(xyz)
    geometry = collision.need("geometry", '<geometry><sphere radius="0.02"/></geometry>')
    solid = geometry.children[0] if geometry.children else geometry
    where = f"link {shown(link)} (line {solid.line})"
    match solid.tag:
        case "sphere":
            return [("", {"radius": _size(solid, "radius"), "anchor_a": xyz})]
        case "cylinder" | "capsule":
            radius, length = _size(solid, "radius"), _size(solid, "length")
            if solid.tag == "cylinder":
                length = max(0.0, length - 2.0 * radius)
            return [("", {"radius": radius, "length": length, "anchor_a": xyz, "axis": tuple(R[:, 2].tolist())})]
        case "box":
            half = 0.5 * np.array(solid.numbers("size", 3))
            corners = [p + R @ (half * signs) for signs in itertools.product((-1.0, 1.0), repeat=3)]
            return [(f" corner {k}", {"anchor_a": tuple(at.tolist())}) for k, at in enumerate(corners, start=1)]
        case tag:
            remarks.add(Remarks.NO_CONTACT, f"{where}: <{tag}>")
            return []


def _size(solid: Node, name: str) -> float:
    x = solid.number(name)
    if not x > 0.0:
        raise solid.error(f"{name} of <{solid.tag}> is {x:g}; a contact needs one greater than 0")
    return x


def _free(name: str, taken: set[str]) -> str:
    return next(n for k in itertools.count(1) if (n := name if k == 1 else f"{name} {k}") not in taken)
