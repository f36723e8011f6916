"""How a tree crosses into a kernel: three tables for the model, four for the scratch, one row a body or a freedom.

Row 0 is the world, bodies are 1 … nb and a parent stands before its children (Featherstone's numbering), so that no
algorithm branches on the root.

    topology  int64   (nb + 1, 8)   parent, kind of joint, first q, first v, freedoms, efforts, flags: what it does with
                                    shares (below) and whether X_i turns about z only, the first v behind its subtree;
                                    row 0: −1, −, nq, nv, 0, 0, −, nv
    body      float64 (nb + 1, 32)  X_PJ (12), rigid inertia (10), pitch, moments split (7), −; row 0 holds the gravity
                                    vector
    freedom   float64 (nv, 8)       armature, damping, stiffness, rest, friction, friction speed, −, −

Bodies come depth first, so a subtree is a run of rows that starts at its root. Going inward, what children hand to their
parent (their share) is a stack: the last child is done first and PUSHES its share, a child between ADDS to the top (the
subtrees of its siblings have taken off what they pushed), the first child stands right behind its parent and hands over
in registers, and a parent of several children POPS. However far a child's row lies from its parent's, the top is near.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nexdyn.kernel import formula
from nexdyn.records import Record, rows_of
from nexdyn.spatial.algebra import ArticulatedInertia, Force, Motion, Pose, RigidInertia, Vec3
from nexdyn.spatial.lanes import zero
from nexdyn.spatial.split_moments import SplitMoments
from nexdyn.spatial.table import PoseRows, RigidInertiaRows, SplitMomentsRows

PARENT, KIND, IQ, IV, NV, EFFORTS, FLAGS, END = range(8)
TOPOLOGY_COLUMNS = 8
PUSHES, ADDS, POPS, TURNS_Z = 1, 2, 4, 8  # flags
NO_EFFORT, LINEAR, FRICTIONAL = range(3)  # efforts of a joint: none, spring and damper, and friction

POSE, INERTIA, PITCH, SPLIT = 0, 12, 22, 23
BODY_COLUMNS = 32

ARMATURE, DAMPING, STIFFNESS, REST, FRICTION, FRICTION_SPEED = range(6)
FREEDOM_COLUMNS = 8


class Body(Record):
    """A row of the topology."""

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
    moments split."""

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


Bodies, Rigids, Dofs, Motions = rows_of(Body), rows_of(Rigid), rows_of(Dof), rows_of(Moving)
Reductions, ColumnRows, Shares = rows_of(Reduced), rows_of(Columns), rows_of(Share)


class TreeModel(NamedTuple):
    """The frozen tables of a tree."""

    topology: Any
    body: Any
    freedom: Any


class TreeWork(NamedTuple):
    """Scratch, one row a body and one row a freedom; what ABA touches lies by itself, so that large trees stream well."""

    body: Any
    spare: Any
    freedom: Any
    columns: Any
    shares: Any


# of a body: X (12), V, c, A, external force, F (6 each)
X_, V_, C_, A_, EXT_, F_ = 0, 12, 18, 24, 30, 36
BODY_WORK = 42
# of a body, seldom wanted: composite inertia (10), pose in the world (12)
IC_, XW_ = 0, 10
SPARE_WORK = 22
# of a freedom: column of U (6), in ABA of U/d; 1/d, u/d
U_, D_, S_ = 0, 6, 7
FREEDOM_WORK = 8
# of a freedom: column of H, column of a Jacobian and its rate (6 each); or behind H the axes of its body, then its force
H_, J_, JD_ = 0, 6, 12
AXES_, FORCE_ = 6, 6
COLUMNS_WORK = 18
# of a level of the stack: articulated inertia (21) and bias force (6)
IA_, PA_ = 0, 21
SHARES_WORK = 27


def levels(nb: int) -> int:
    """Levels that the stack of shares can need: each is a body of several children, and has a leaf of its own."""
    return nb // 2 + 1


def new_work(nb: int, nv: int) -> TreeWork:
    """Scratch for a tree of nb bodies and nv freedoms: zeros, and the world's own pose in row 0."""
    rows = max(nv, 1)
    work = TreeWork(
        np.zeros((nb + 1, BODY_WORK)), np.zeros((nb + 1, SPARE_WORK)), np.zeros((rows, FREEDOM_WORK)),
        np.zeros((rows, COLUMNS_WORK)), np.zeros((levels(nb), SHARES_WORK)),
    )  # fmt: skip
    work.spare[0, [XW_, XW_ + 4, XW_ + 8]] = 1.0
    return work


@formula
def joint_poses(model):
    """X_PJ[i]: the joint's parent-side frame in the parent."""
    return PoseRows(model.body, POSE)


@formula
def inertias(model):
    """I[i] in the body's joint frame."""
    return RigidInertiaRows(model.body, INERTIA)


@formula
def split_moments(model):
    """The moments of I[i], split."""
    return SplitMomentsRows(model.body, SPLIT)


@formula
def gravity(model):
    """g in the world."""
    return Vec3(model.body[0, 0], model.body[0, 1], model.body[0, 2])


@formula
def world_acceleration(model):
    """The world accelerates against gravity: A_0 = (0, −g)."""
    g = gravity(model)
    o = zero(g.x)
    return Motion(Vec3(o, o, o), -g)
