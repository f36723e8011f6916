"""Counted angles of a motion in absolute coordinates; see ``constraints.turns``."""

from __future__ import annotations

from nexdyn.constraints import turns
from nexdyn.constraints.turns import SURE, UNCOUNTED, UNSURE
from nexdyn.kernel import formula

__all__ = [
    "SURE",
    "UNCOUNTED",
    "UNSURE",
    "count_angles",
    "expect_angles",
    "keep_angles",
    "most_turned",
    "return_angles",
]


@formula
def expect_angles(tables, s):
    """`near` of the angles in rows, at the present poses."""
    turns.expect_angles(tables.angles, tables.angle_frames, tables.expected, s.poses, s.moved, s.counted, s.near)


@formula
def count_angles(tables, s):
    """`near` of all angles, at the present poses; returns what the increments miss them by at most."""
    return turns.count_angles(tables.angles, tables.angle_frames, s.poses, s.moved, s.counted, s.near)


@formula
def most_turned(s):
    """The largest turn of a body in the step [rad]."""
    return turns.most_turned(s.moved)


@formula
def keep_angles(s):
    """The step has been taken."""
    turns.keep_angles(s.moved, s.counted, s.near)


@formula
def return_angles(s):
    """A step begins."""
    turns.return_angles(s.counted, s.near)
