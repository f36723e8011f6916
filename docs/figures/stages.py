"""What the mechanisms of the pictures stand on, and what they are made of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

import nexdyn as nx

STAND, CHILD, AXIS = (0.72, 0.72, 0.75, 1.0), (0.12, 0.42, 0.75, 1.0), (0.13, 0.6, 0.3, 1.0)


def stage(name: str, gravity: bool = False, shown: Iterable[nx.Shape] = ()) -> tuple[nx.System, nx.Body]:
    """A stand that is welded to the ground, with a green rod along the joint's axis z, and what else is to be seen on it."""
    system = nx.System(name, gravity=(0, 0, -9.81 if gravity else 0))
    stand = system.add_body(
        "stand", mass=1.0, inertia=(0.1, 0.1, 0.1),
        shapes=[
            nx.Box((0.5, 0.5, 0.06), position=(0, 0, -0.23), color=STAND),
            nx.Cylinder(radius=0.012, length=0.9, position=(0, 0, 0.1), color=AXIS),
            *shown,
        ],
    )  # fmt: skip
    system.add_joint(nx.Fixed("weld", system.ground, stand))
    return system, stand


def add_child(
    system: nx.System, at: Any = (0, 0, 0), size: Any = (0.5, 0.14, 0.14), shift: Any = (0.18, 0, 0)
) -> nx.Body:
    """A blue bar with a white end, so that its turning shows."""
    end = np.asarray(shift) + np.array([size[0] / 2 - 0.04, 0, 0])
    return system.add_body(
        "child", mass=1.0, inertia=(0.02, 0.03, 0.03), position=at,
        shapes=[
            nx.Box((size[0] - 0.08, size[1], size[2]), position=shift - np.array([0.04, 0, 0]), color=CHILD),
            nx.Box((0.08, size[1], size[2]), position=end, color=(0.95, 0.95, 0.95, 1.0)),
        ],
    )  # fmt: skip


def ball(system: nx.System, at: Any) -> nx.Body:
    """A small body that shows where its point is."""
    return system.add_body(
        "child", mass=1.0, inertia=(0.01, 0.01, 0.01), position=at,
        shapes=[nx.Sphere(0.06, color=CHILD), nx.Box((0.2, 0.05, 0.05), position=(0.1, 0, 0), color=CHILD)],
    )  # fmt: skip


def dots(points: Any, radius: float = 0.012) -> list[nx.Shape]:
    """A curve or a surface as what is strewn on it."""
    return [nx.Sphere(radius, position=p, color=AXIS) for p in points]


def plate(name: str, side: float = 1.2) -> tuple[nx.System, nx.Body]:
    """A stand with a wide plate, whose top is the plane z = -0.2, to roll and slide on."""
    return stage(name, gravity=True, shown=[nx.Box((side, side, 0.06), position=(0, 0, -0.23), color=STAND)])
