"""Seeded random systems for the laws: every kind of joint, branches, several roots, floating bodies, welds mixed in.

`trees()` is one set for all files, compiled once a session. What the tests need to know of a joint they take from here
and from ``nexdyn.spatial``, not from the pages under test: `joint_pose` says X_J(q) by rotations and vectors.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from nexdyn.joints import JOINTS
from nexdyn.model.body import Body
from nexdyn.model.joint import Joint, Mimic
from nexdyn.model.system import System
from nexdyn.spatial.poses import compose, inverse
from nexdyn.spatial.rotations import rotation_about, rotation_matrix
from nexdyn.tree.tree import Tree

KINDS = [kind for kind, cls in JOINTS.items() if cls.tree]
MOVING = [kind for kind in KINDS if JOINTS[kind].nv]
QUATERNION = [kind for kind in KINDS if JOINTS[kind].nq > JOINTS[kind].nv]
ONE = np.eye(3)

Frame = tuple[np.ndarray, np.ndarray]


# --- random parts -------------------------------------------------------------------------------------------------


def unit(rng: np.random.Generator, n: int) -> np.ndarray:
    """A random direction; n = 4 is a random attitude."""
    x = rng.normal(size=n)
    return x / np.linalg.norm(x)


def solid(rng: np.random.Generator) -> dict[str, Any]:
    """Mass, centre of mass and a physical inertia, tr(Σ) 1 − Σ of a random Σ = ∫ r rᵀ dm."""
    A = rng.normal(size=(3, 3)) * 0.3
    return {
        "mass": rng.uniform(0.5, 2.0),
        "com": rng.normal(size=3) * 0.2,
        "inertia": np.trace(A @ A.T) * ONE - A @ A.T,
    }


def somewhere(rng: np.random.Generator) -> dict[str, Any]:
    """A place and an attitude in the world."""
    return {"position": rng.normal(size=3), "orientation": unit(rng, 4)}


def options(rng: np.random.Generator, kind: str) -> dict[str, Any]:
    """What a joint of this kind may carry besides its place."""
    armature = {"armature": rng.uniform(0.05, 0.3)} if rng.random() < 0.5 and kind != "fixed" else {}
    return {"pitch": rng.uniform(-0.5, 0.5), **armature} if kind == "helical" else armature


def placed(rng: np.random.Generator) -> dict[str, Any]:
    """Where a joint is: in the world as described, or by anchors and axes in its two bodies."""
    if rng.random() < 0.6:
        return {"at": rng.normal(size=3), "axis": unit(rng, 3), "reference": unit(rng, 3)}
    sides = {f"anchor_{s}": rng.normal(size=3) for s in "ab"}
    return {**sides, **{f"axis_{s}": unit(rng, 3) for s in "ab"}, **{f"reference_{s}": unit(rng, 3) for s in "ab"}}


def joint_of(kind: str, name: str, parent: Body, child: Body, rng: np.random.Generator, **given: Any) -> Joint:
    """A joint at a random place with random options."""
    return JOINTS[kind](name, parent, child, **{**placed(rng), **options(rng, kind), **given})


def random_system(
    seed: int, kinds: Sequence[str], *, roots: int = 1, floating: int = 0, reach: int = 3, name: str = "random"
) -> System:
    """One body a kind: the first `roots` hang on ground, each other on one of the `reach` bodies before it.

    The first `floating` bodies have no joint; a kind is then left to hang on them.
    """
    rng = np.random.default_rng(seed)
    system = System(name, gravity=rng.normal(size=3) * 5.0)
    bodies: list[Body] = []
    for i in range(floating):
        bodies.append(system.add_body(f"base{i}", **solid(rng), **somewhere(rng)))
    for i, kind in enumerate(kinds):
        parent = system.ground if i < roots else bodies[rng.integers(max(0, len(bodies) - reach), len(bodies))]
        child = system.add_body(f"{kind}{i}", **solid(rng), **somewhere(rng))
        system.add_joint(joint_of(kind, f"j{i}", parent, child, rng))
        bodies.append(child)
    return system


# --- the set for all tests ----------------------------------------------------------------------------------------


def mimicking(seed: int) -> System:
    """A tree in which joints follow others: a chain of followers, a factor of 1 with an offset, and across branches."""
    rng = np.random.default_rng(seed)
    system = System("mimic", gravity=(1.0, -2.0, -9.0))
    follow = {
        "j2": Mimic("j0", -1.5, 0.3), "j3": Mimic("j2", 0.5, -0.1), "j5": Mimic("j1", 1.0, 0.7), "j6": Mimic("j8", 2.0),
    }  # fmt: skip
    kinds = ["revolute", "prismatic", "revolute", "prismatic", "spherical", "helical", "revolute", "planar", "revolute"]
    before: list[Body] = [system.ground]
    for i, kind in enumerate(kinds):
        child = system.add_body(f"b{i}", **solid(rng), **somewhere(rng))
        system.add_joint(
            joint_of(kind, f"j{i}", before[rng.integers(len(before))], child, rng, mimic=follow.get(f"j{i}"))
        )
        before.append(child)
    return system


def to_the_ground(seed: int) -> System:
    """Of every kind whose coordinates are no turns about z and slides along z a joint from a body to the ground, and a body more on it."""
    rng = np.random.default_rng(seed)
    system = System("to the ground", gravity=rng.normal(size=3) * 5.0)
    for kind in (kind for kind in KINDS if not JOINTS[kind].about_z):
        body, more = (system.add_body(f"{kind} {n}", **solid(rng), **somewhere(rng)) for n in "ab")
        system.add_joint(joint_of(kind, f"{kind} to ground", body, system.ground, rng))
        system.add_joint(joint_of("revolute", f"{kind} on", body, more, rng))
    return system


@functools.cache
def descriptions() -> dict[str, System]:
    """The random systems by name."""
    rng = np.random.default_rng(7)
    shuffled = [str(kind) for kind in rng.permutation(MOVING * 2)]
    hinges = ["revolute", "prismatic", "revolute", "revolute", "revolute", "prismatic"]
    legs = ["revolute", "fixed", "prismatic", "spherical"] * 3
    welds = ["fixed", "revolute", "fixed", "fixed", "universal", "fixed", "helical", "fixed"]
    return {
        "every joint": random_system(1, [*KINDS, *reversed(KINDS)], roots=2),
        "floating bases": random_system(2, legs, roots=0, floating=2, reach=9),
        "arm": random_system(3, hinges, reach=1),
        "welds": random_system(4, welds, roots=2),
        "forest": random_system(5, shuffled, roots=5, floating=1, reach=6),
        "quaternions": random_system(6, ["free", "spherical", "free", "spherical", "spherical"], reach=2),
        "turning subspaces": random_system(7, ["planar", "universal", "planar", "universal", "helical"], reach=1),
        "mimic": mimicking(8),
        "to the ground": to_the_ground(9),
    }


@functools.cache
def trees() -> dict[str, Tree]:
    """Their trees."""
    return {name: Tree(system) for name, system in descriptions().items()}


NAMES = ["every joint", "floating bases", "arm", "welds", "forest", "quaternions", "turning subspaces", "mimic"]
FREE_NAMES = NAMES[:-1]
"""Those without mimic joints, whose coordinates are all their own. That "to the ground" is tried interpreted (test_joints_to_ground)."""


def state(tree: Tree, seed: int, *batch: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Random q (…, nq) and v, a, tau (…, nv)."""
    rng = np.random.default_rng(seed)
    q = tree.normalized(rng.normal(size=(*batch, tree.nq)))
    return q, *rng.normal(size=(3, *batch, tree.nv))


def difference(f: Any, tree: Tree, q: np.ndarray, step: np.ndarray, h: float = 1e-4) -> Any:
    """df along `step` from q, central and of fourth order: errors of about h⁴ and 1e-16/h."""
    at = [np.asarray(f(tree.integrate(q, k * h * step))) for k in (-2, -1, 1, 2)]
    return (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * h)


def gradient(f: Any, tree: Tree, q: np.ndarray, h: float = 1e-4) -> np.ndarray:
    """df along every freedom, on the last axis."""
    return np.stack([difference(f, tree, q, e, h) for e in np.eye(tree.nv)], axis=-1)


# --- kinematics by rotations and vectors alone --------------------------------------------------------------------


def joint_pose(kind: str, q: np.ndarray, pitch: float = 0.0) -> Frame:
    """X_J(q): the child-side frame of a joint in its parent-side frame."""
    z, nowhere = (0.0, 0.0, 1.0), np.zeros(3)
    match kind:
        case "fixed":
            return ONE, nowhere
        case "revolute":
            return rotation_about(z, q[0]), nowhere
        case "prismatic":
            return ONE, np.array([0.0, 0.0, q[0]])
        case "helical":
            return rotation_about(z, q[0]), np.array([0.0, 0.0, pitch * q[0]])
        case "cylindrical":
            return rotation_about(z, q[0]), np.array([0.0, 0.0, q[1]])
        case "universal":
            return rotation_about(z, q[0]) @ rotation_about((1.0, 0.0, 0.0), q[1]), nowhere
        case "spherical":
            return rotation_matrix(q / np.linalg.norm(q)), nowhere
        case "planar":
            return rotation_about(z, q[2]), np.array([q[0], q[1], 0.0])
        case "cartesian":
            return ONE, q.copy()
        case "free":
            return rotation_matrix(q[:4] / np.linalg.norm(q[:4])), q[4:].copy()
    raise AssertionError(kind)


def coordinates_of(tree: Tree, q: np.ndarray) -> dict[str, np.ndarray]:
    """Each joint's own q, by name; that of a floating body by the body's; followers of mimic included."""
    own = {name: q[place.q] for name, place in tree.coordinates.items()}

    def of(name: str) -> np.ndarray:
        if name not in own:
            mimic = tree.system.joint(name).mimic
            own[name] = np.zeros(0) if mimic is None else mimic.multiplier * of(mimic.joint) + mimic.offset
        return own[name]

    for name in tree.system.joints:
        of(name)
    return own


def poses(tree: Tree, q: np.ndarray) -> dict[str, Frame]:
    """X_WB of every body: X_WP X_PJ X_J(q) X_BJ⁻¹ along its branch."""
    system, own = tree.system, coordinates_of(tree, q)
    carriers = {joint.carried.name: joint for joint in system.joints.values()}
    found: dict[str, Frame] = {"ground": (ONE, np.zeros(3))}

    def of(body: str) -> Frame:
        if body not in found and body not in carriers:
            found[body] = joint_pose("free", own[body])
        elif body not in found:
            joint = carriers[body]
            R_PJ, p_PJ, R_BJ, p_BJ = joint.frames(system.values)
            X_J = joint_pose(joint.kind, own[joint.name], getattr(joint, "pitch", 0.0))
            if joint.child is system.ground:  # X_WP = X_WB X_J⁻¹ X_PJ⁻¹
                found[body] = compose(*compose(R_BJ, p_BJ, *inverse(*X_J)), *inverse(R_PJ, p_PJ))
                return found[body]
            X_WJ = compose(*compose(*of(joint.parent.name), R_PJ, p_PJ), *X_J)
            found[body] = compose(*X_WJ, *inverse(R_BJ, p_BJ))
        return found[body]

    for body in system.bodies:
        of(body)
    return found
