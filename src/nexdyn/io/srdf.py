"""SRDF, MoveIt's companion of a URDF: which links are not tested for collisions with each other.

    <disable_collisions link1="a" link2="b"/>     a and b
    <disable_default_collisions link="a"/>        a and every other link
    <enable_collisions link1="a" link2="b"/>      but a and b after all

Groups, states and end effectors say nothing of a mechanism and are passed over.

Source: MoveIt's documentation of URDF and SRDF.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Container
from itertools import combinations

from nexdyn.errors import warn
from nexdyn.io.urdf_xml import Node, parse_xml, read_bytes, shown
from nexdyn.results.atomic import PathLike

Pair = frozenset[str]
_SHOWN = 8  # names that a warning lists


def disabled_pairs(path: PathLike, links: Container[str], names: list[str]) -> dict[str, tuple[str, ...]]:
    """For each of the `links` (in the order of `names`) the later ones that an SRDF takes from its collisions.

    Raises FileError with file, line and reason. Links that the robot does not have are a NexDynWarning."""
    file = os.fspath(path)
    robot = parse_xml(read_bytes(path), file)
    if robot.tag != "robot":
        raise robot.error("this is no SRDF, whose root element is <robot>")
    missing: dict[str, int] = {}

    def known(node: Node, *attributes: str) -> list[str]:
        found = [node.text(attribute, f'{attribute}="arm"') for attribute in attributes]
        missing.update({name: node.line for name in found if name not in links})
        return [name for name in found if name in links]

    pairs: set[Pair] = set()
    for node in robot.all("disable_default_collisions"):
        for name in known(node, "link"):
            pairs |= {frozenset((name, other)) for other in names if other != name}
    for tag, change in (("enable_collisions", pairs.discard), ("disable_collisions", pairs.add)):
        for node in robot.all(tag):
            both = frozenset(known(node, "link1", "link2"))
            if len(both) == 2:
                change(both)
    if missing:
        listed = [f"{shown(name)} (line {line})" for name, line in missing.items()]
        more = f"; and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
        warn(f"{file}: links that the robot does not have, left out: {'; '.join(listed[:_SHOWN])}{more}")
    found: dict[str, list[str]] = defaultdict(list)
    for a, b in combinations(names, 2) if pairs else ():
        if frozenset((a, b)) in pairs:
            found[a].append(b)
    return {name: tuple(others) for name, others in found.items()}
