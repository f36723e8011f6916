"""How a tree crosses into a kernel: three tables for the model, five for the scratch, one row a body or a degree of freedom.

Row 0 is the world, bodies are 1 … nb and a parent stands before its children (Featherstone's numbering), so that no
algorithm branches on the root.

Bodies come depth first, so a subtree is a run of rows that starts at its root. Going inward, what children hand to their
parent (their share) is a stack: the last child is done first and PUSHES its share, a child between ADDS to the top (the
subtrees of its siblings have taken off what they pushed), the first child stands right behind its parent and hands over
in registers, and a parent of several children POPS. However far a child's row lies from its parent's, the top is near.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from nexdyn.kernel import formula
from nexdyn.records import Record, holds_records, rows_of
from nexdyn.spatial.algebra import ArticulatedInertia, Force, Motion, Pose, RigidInertia, Vec3
from nexdyn.spatial.lanes import zero
from nexdyn.spatial.split_moments import SplitMoments

PUSHES, ADDS, POPS, TURNS_Z = 1, 2, 4, 8  # flags
NO_EFFORT, LINEAR, FRICTIONAL = range(3)  # efforts of a joint: none, spring and damper, and friction


class Body(Record):
    """A body in the tree. The world: −1, −, nq, nv, 0, 0, −, nv.

    flags: what it does with shares (above), and whether X_i turns about z only. end: the first v behind its subtree.
    """

    parent: int
    kind: int
    iq: int
    iv: int
    nv: int
    efforts: int
    flags: int
    end: int


class Rigid(Record):
    """What is fixed about a body: the joint's parent-side frame in the parent, inertia in the joint's frame, pitch, the inertia's
    moments split. The world's row begins with the gravity vector."""

    X_PJ: Pose
    I: RigidInertia
    pitch: float
    split: SplitMoments
    spare: float
    spare_: float


class Dof(Record):
    """What is fixed about a degree of freedom."""

    armature: float
    damping: float
    stiffness: float
    rest: float
    friction: float
    friction_speed: float
    spare: float
    spare_: float


class Moving(Record):
    """Of a body: its pose in the parent, twist, bias, acceleration, external force and force."""

    X: Pose
    V: Motion
    c: Motion
    A: Motion
    external: Force
    F: Force


class Outward(Record):
    """Of a body, seldom wanted: composite inertia and pose in the world."""

    IC: RigidInertia
    X_W: Pose


class Reduced(Record):
    """Of a degree of freedom: column of U, in ABA of U/d; 1/d, u/d."""

    U: Force
    r: float
    s: float


class Columns(Record):
    """Of a degree of freedom: column of H, column of a Jacobian and its rate."""

    H: Motion
    J: Motion
    J_dot: Motion


class Share(Record):
    """Of a level of the stack: articulated inertia and bias force."""

    IA: ArticulatedInertia
    pA: Force


Bodies, Rigids, Dofs = rows_of(Body), rows_of(Rigid), rows_of(Dof)


@holds_records
class TreeModel(NamedTuple):
    """The frozen tables of a tree."""

    topology: Annotated[Any, Body]
    body: Annotated[Any, Rigid]
    freedom: Annotated[Any, Dof]


@holds_records
class TreeWork(NamedTuple):
    """Scratch, one row a body and one row a degree of freedom; what ABA touches lies by itself, so that large trees stream well."""

    body: Annotated[Any, Moving]
    spare: Annotated[Any, Outward]
    freedom: Annotated[Any, Reduced]
    columns: Annotated[Any, Columns]
    shares: Annotated[Any, Share]


def levels(nb: int) -> int:
    """Levels that the stack of shares can need: each is a body of several children, and has a leaf of its own."""
    return nb // 2 + 1


def new_work(nb: int, nv: int) -> TreeWork:
    """Scratch for a tree of nb bodies and nv degrees of freedom: zeros, and the world's own pose in row 0."""
    rows = max(nv, 1)
    work = TreeWork(
        np.zeros((nb + 1, Moving.columns)), np.zeros((nb + 1, Outward.columns)), np.zeros((rows, Reduced.columns)),
        np.zeros((rows, Columns.columns)), np.zeros((levels(nb), Share.columns)),
    )  # fmt: skip
    work.spare.X_W.R.numbers[0] = np.eye(3).ravel()
    return work


@formula
def gravity(model):
    """g in the world."""
    R = model.body[0].X_PJ.R
    return Vec3(R.xx, R.xy, R.xz)


@formula
def world_acceleration(model):
    """The world accelerates against gravity: A_0 = (0, −g)."""
    g = gravity(model)
    o = zero(g.x)
    return Motion(Vec3(o, o, o), -g)
