"""Mechanisms with loops whose redundant rows are known."""

from __future__ import annotations

from typing import Any

import numpy as np

import nexdyn as nx
from nexdyn.spatial.rotations import exp_quaternion, quaternion_multiply, rotation_matrix

AXES = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}
INERTIA = (0.1, 0.12, 0.02)


def rod(system: nx.System, name: str, p: Any, q: Any) -> nx.Body:
    """A body with its origin half-way between two points."""
    return system.add_body(name, mass=1.0, inertia=INERTIA, position=(np.asarray(p, float) + q) / 2)


def four_bar(scale: float = 1.0, gravity: Any = (0, -9.81, 0)) -> nx.System:
    """Planar: four revolutes about z; 3 redundant rows."""
    system = nx.System("four-bar", gravity=gravity)
    A, B, C, D = (scale * np.array(p, float) for p in ((0, 0, 0), (0, 1, 0), (1.5, 1.4, 0), (2, 0, 0)))
    crank, coupler, rocker = rod(system, "crank", A, B), rod(system, "coupler", B, C), rod(system, "rocker", C, D)
    for name, parent, child, at in (
        ("A", system.ground, crank, A), ("B", crank, coupler, B), ("C", coupler, rocker, C),
        ("D", system.ground, rocker, D),
    ):  # fmt: skip
        system.add_joint(nx.Revolute(name, parent, child, at=at, axis=(0, 0, 1)))
    return system


def open_four_bar(rng: np.random.Generator, coupler: float = 1.5, shift: float = 0.05, base: float = 2.0) -> nx.System:
    """The four-bar given by lengths and anchors, its bodies described beside their places."""
    system = nx.System("four-bar", gravity=(0, -9.81, 0))
    z = {"axis_a": (0, 0, 1), "axis_b": (0, 0, 1)}
    places = {"crank": (0, 0.5, 0), "coupler": (0.75, 1.2, 0), "rocker": (base - 0.25, 0.7, 0)}
    crank, bar, rocker = (
        system.add_body(name, mass=1.0, inertia=INERTIA, position=np.array(p) + shift * rng.normal(size=3))
        for name, p in places.items()
    )
    system.add_joint(nx.Revolute("A", system.ground, crank, anchor_a=(0, 0, 0), anchor_b=(0, -0.5, 0), **z))
    system.add_joint(nx.Revolute("B", crank, bar, anchor_a=(0, 0.5, 0), anchor_b=(-coupler / 2, 0, 0), **z))
    system.add_joint(nx.Revolute("C", bar, rocker, anchor_a=(coupler / 2, 0, 0), anchor_b=(-0.25, 0.7, 0), **z))
    system.add_joint(nx.Revolute("D", system.ground, rocker, anchor_a=(base, 0, 0), anchor_b=(0.25, -0.7, 0), **z))
    return system


def bricard() -> nx.System:
    """../shared A04: six revolutes, 1 redundant row."""
    system = nx.System("Bricard", gravity=(0, -9.81, 0))
    P = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], float)
    rods = [rod(system, f"rod{i}", P[i], P[i + 1]) for i in range(5)]
    chain = [system.ground, *rods, system.ground]
    for i, axis in enumerate("yzxyzx"):
        a, b = chain[i], chain[i + 1]
        a, b = (b, a) if b is system.ground else (a, b)
        system.add_joint(nx.Revolute(f"P{i + 1}", a, b, at=P[i], axis=AXES[axis]))
    return system


def n_four_bar(n: int = 2, flat: bool = False) -> nx.System:
    """A02: n coupled four-bars, 35 rows for n = 2; 6 redundant, 8 when flat."""
    system = nx.System("A02", gravity=(0, -9.81, 0))
    up = np.array((1.0, 0, 0) if flat else (0, 1.0, 0))
    feet = [np.array((i, 0.0, 0)) for i in range(n + 1)]
    posts = [rod(system, f"post{i}", p, p + up) for i, p in enumerate(feet)]
    bars = [rod(system, f"bar{i}", feet[i] + up, feet[i + 1] + up) for i in range(n)]
    for i, p in enumerate(feet):
        system.add_joint(nx.Revolute(f"foot{i}", system.ground, posts[i], at=p, axis=(0, 0, 1)))
    for i in range(n):
        system.add_joint(nx.Revolute(f"left{i}", posts[i], bars[i], at=feet[i] + up, axis=(0, 0, 1)))
        system.add_joint(nx.Revolute(f"right{i}", posts[i + 1], bars[i], at=feet[i + 1] + up, axis=(0, 0, 1)))
    return system


def door(askew: float = 0.0) -> nx.System:
    """Two hinges on one axis: 5 redundant rows; with the second axis askew nothing moves."""
    system = nx.System("door")
    leaf = system.add_body("leaf", mass=20.0, inertia=(4.0, 3.0, 1.5), position=(0.5, 0, 1))
    system.add_joint(nx.Revolute("lower", system.ground, leaf, at=(0, 0, 0), axis=(0, 0, 1)))
    system.add_joint(nx.Revolute("upper", system.ground, leaf, at=(0, 0, 2), axis=(askew, 0, 1)))
    return system


def crooked_door() -> nx.System:
    """A door whose second hinge is given in the two bodies' frames, which cannot meet."""
    system = nx.System("crooked door")
    leaf = system.add_body("leaf", mass=20.0, inertia=(4.0, 3.0, 1.5), position=(0.5, 0, 1))
    system.add_joint(nx.Revolute("lower", system.ground, leaf, at=(0, 0, 0), axis=(0, 0, 1)))
    system.add_joint(
        nx.Revolute(
            "upper",
            system.ground,
            leaf,
            anchor_a=(0, 0, 2.05),
            anchor_b=(-0.5, 0, 1),
            axis_a=(0, 0, 1),
            axis_b=(0, 0, 1),
        )
    )
    return system


def three_cranks(v0: float = 0.0) -> nx.System:
    """Three cranks with one coupler: 30 rows, 7 redundant; all turn at v0 [rad/s]."""
    system = nx.System("three cranks")
    cranks = [rod(system, f"crank{i}", (i, 0, 0), (i, 1, 0)) for i in range(3)]
    coupler = system.add_body("coupler", mass=1.0, inertia=INERTIA, position=(1, 1, 0))
    for i, crank in enumerate(cranks):
        system.add_joint(nx.Revolute(f"foot{i}", system.ground, crank, at=(i, 0, 0), axis=(0, 0, 1), v0=v0))
        system.add_joint(nx.Revolute(f"pin{i}", crank, coupler, at=(i, 1, 0), axis=(0, 0, 1)))
    return system


def table() -> nx.System:
    """A table on four spherical joints to the ground: 6 redundant rows."""
    system = nx.System("table")
    top = system.add_body("top", mass=8.0, inertia=(1, 1, 2), position=(0.1, 0.2, 1))
    for i, (x, y) in enumerate(((1, 1), (1, -1), (-1, -1), (-1, 1))):
        system.add_joint(nx.Spherical(f"leg{i}", system.ground, top, at=(x, y, 0)))
    return system


def written_twice() -> nx.System:
    """The same joint twice: its 5 rows."""
    system = nx.System("twice")
    body = system.add_body("body", mass=1.0, inertia=INERTIA)
    system.add_joint(nx.Revolute("once", system.ground, body, at=(0, 0, 0)))
    system.add_joint(nx.Revolute("again", system.ground, body, at=(0, 0, 0)))
    return system


LOOP_KINDS = (nx.Revolute, nx.Prismatic, nx.Spherical, nx.Universal, nx.Cylindrical, nx.Planar, nx.Fixed)


EVERY_KIND = (*LOOP_KINDS, nx.Helical, nx.Cartesian)
CLOSERS = (nx.Spherical, nx.PointOnLine, nx.PointOnPlane, nx.Parallel, nx.Cylindrical)


def hooke(angle: float, links: int) -> nx.System:
    """Shafts at an angle [rad] to each other, the ends in hinges to the ground: one Hooke joint, or two with a shaft between,
    of half the angle each and their forks in one plane."""
    system = nx.System("shafts", gravity=(0, 0, 0))
    directions = [np.array([np.cos(x), np.sin(x), 0.0]) for x in np.linspace(0.0, angle, links)]
    at = np.zeros(3)
    for k, d in enumerate(directions):
        system.add_body(f"shaft{k}", mass=1.0, inertia=(0.2, 0.2, 0.2), position=at + 0.5 * d)
        if k == 0:
            system.add_joint(nx.Revolute("in", "ground", "shaft0", at=at, axis=d, v0=4.0))
        else:
            across = np.cross([0.0, 0.0, 1.0], d)
            if k % 2:
                fork = {"axis": (0, 0, 1), "reference": across}
            else:  # the other way round: the fork of the shaft between lies as that at its other end
                fork = {"axis": np.cross([0.0, 0.0, 1.0], directions[k - 1]), "reference": (0, 0, 1)}
            system.add_joint(nx.Universal(f"fork{k}", f"shaft{k - 1}", f"shaft{k}", at=at, **fork))
        at = at + d
    system.add_joint(nx.Revolute("out", "ground", f"shaft{links - 1}", at=at, axis=directions[-1]))
    return system


def random_loops(
    rng: np.random.Generator,
    bodies: int,
    loops: int,
    turn: float,
    shift: float,
    kinds: Any = LOOP_KINDS,
    closers: Any = (nx.Spherical,),
) -> tuple[nx.System, Any]:
    """A spatial mechanism that closes by construction, described with its bodies turned and moved out of their places.

    Its joints, of `kinds` in the tree and `closers` in the loops, are given by frames in the bodies. Returns it with the true
    poses {body: (position, quaternion)}."""
    names = ["ground", *(f"b{i}" for i in range(bodies))]
    poses = {"ground": (np.zeros(3), np.array([1.0, 0, 0, 0]))}
    for name in names[1:]:
        w = rng.normal(size=4)
        poses[name] = (rng.normal(size=3), w / np.linalg.norm(w))
    system = nx.System("random loops", gravity=rng.normal(size=3))
    for name in names[1:]:
        p, w = poses[name]
        away = exp_quaternion(turn * rng.uniform(-1, 1, 3))
        system.add_body(
            name, mass=rng.uniform(1, 2), inertia=rng.uniform(1, 1.5, 3), position=p + shift * rng.uniform(-1, 1, 3),
            orientation=quaternion_multiply(w, away),
        )  # fmt: skip
    edges = [(int(rng.integers(0, i + 1)), i + 1) for i in range(bodies)]
    edges += [tuple(sorted(rng.choice(bodies + 1, 2, replace=False))) for _ in range(loops)]
    for k, (a, b) in enumerate(edges):
        kind = closers[(k - bodies) % len(closers)] if k >= bodies else kinds[int(rng.integers(len(kinds)))]
        point, z, x = rng.normal(size=(3, 3))
        sides = {}
        for side, body in (("a", names[a]), ("b", names[b])):
            p, w = poses[body]
            R = rotation_matrix(w)
            sides |= {f"anchor_{side}": R.T @ (point - p), f"axis_{side}": R.T @ z, f"reference_{side}": R.T @ x}
        pitch = {"pitch": rng.uniform(0.1, 0.5)} if kind is nx.Helical else {}
        system.add_joint(kind(f"j{k}", names[a], names[b], **sides, **pitch))
    return system, poses
