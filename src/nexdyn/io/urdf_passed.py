"""What a URDF says that a System does not take: counted, so that a conversion can tell what is lost."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from typing import Any

from nexdyn.io.urdf_xml import Node, parse_xml, read_bytes

_ORIGIN: dict[str, Any] = {"origin": {}}
_MATERIAL: dict[str, Any] = {"material": {"color": {}}}
_SOLIDS: dict[str, Any] = {name: {} for name in ("box", "sphere", "cylinder", "capsule", "mesh")}
READ: dict[str, Any] = {
    **_MATERIAL,
    "link": {
        "inertial": {**_ORIGIN, "mass": {}, "inertia": {}},
        "visual": {**_ORIGIN, **_MATERIAL, "geometry": _SOLIDS},
        "collision": {**_ORIGIN, "geometry": _SOLIDS},
    },
    "joint": {**_ORIGIN, **{name: {} for name in ("parent", "child", "axis", "limit", "dynamics", "mimic")}},
}
"""The elements below <robot> that are read, and those below them."""
_WORDS = {
    "gazebo": "settings of Gazebo",
    "transmission": "transmissions",
    "safety_controller": "safety limits",
    "calibration": "calibrations",
    "texture": "textures",
    "sensor": "sensors",
}


def passed_over(path: str | os.PathLike[str]) -> list[str]:
    """In words, what of a URDF `nx.load` passes over: "transmissions: 23", "<hardware>: 2"."""
    found: Counter[str] = Counter()
    _count(parse_xml(read_bytes(path), os.fspath(path)), READ, found)
    return [f"{_WORDS.get(tag, f'<{tag}>')}: {count}" for tag, count in found.most_common()]


def _count(node: Node, read: Mapping[str, Any], found: Counter[str]) -> None:
    for child in node.children:
        if child.tag in read:
            _count(child, read[child.tag], found)
        else:
            found[child.tag] += 1
