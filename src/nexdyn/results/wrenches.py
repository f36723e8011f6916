"""A joint's wrench on either of its bodies, about any point, in any axes.

A joint puts the force f and the moment m on its child. They are told at its point J (the origin of its frame on the parent), in the
axes of that frame; on the parent they are −f and −m. About a point P, in axes F,

    f_F = R_WFᵀ R_WJ f,      m_F = R_WFᵀ (R_WJ m + (p_J − p_P) × R_WJ f)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.errors import InputError, unknown
from nexdyn.model.element import Element
from nexdyn.spatial.rotations import cross_product

if TYPE_CHECKING:
    from nexdyn.model.joint import Joint
    from nexdyn.model.system import System
    from nexdyn.results.observed import Observed

Array = np.ndarray
WORLD = "world"


def wrench_on(
    observed: Observed, system: System, joint: str, wrench: Array, on: Element | str | None, at: Any, frame: Any
) -> tuple[Array, str]:
    """`wrench` (time, 6) of `joint` as asked for, and what it is in words. Arguments as of `Result.reaction`."""
    j = system.joints[joint]
    sign, body = _side(j, on)
    R_PJ, p_PJ, _, _ = j.frames(system.values)
    R_WP, p_P = _pose(observed, system, j.parent.name)
    R_WJ, p_J = R_WP @ R_PJ, p_P + R_WP @ p_PJ
    f, m = (sign * np.einsum("tij,tj->ti", R_WJ, part) for part in (wrench[:, :3], wrench[:, 3:]))
    about, point = _point(observed, system, p_J, at, body)
    m = m + cross_product(p_J - about, f)
    R_WF, axes = _axes(observed, system, R_WJ, frame)
    told = [np.einsum("tji,tj->ti", R_WF, part) for part in (f, m)]
    return np.concatenate(told, axis=1), f"of {joint} on {body}, {point}, in {axes}"


def _side(joint: Joint, on: Element | str | None) -> tuple[float, str]:
    """The sign of the wrench on body `on`, and its name."""
    parent, child = (body.name for body in (joint.parent, joint.child))
    name = child if on is None else _name(on, "on", "the body that the wrench acts on")
    if name == child:
        return 1.0, name
    if name == parent:
        return -1.0, name
    raise InputError(f"on is {name!r}; joint {joint.name!r} acts on {child!r} and {parent!r}")


def _point(observed: Observed, system: System, p_J: Array, at: Any, body: str) -> tuple[Array, str]:
    """Positions (time, 3) of the point, and its name."""
    if at is None:
        return p_J, "at the joint's point"
    if isinstance(at, str | Element):
        name = _name(at, "at", "a point")
        return observed.at_frame("position", name), f"at {name}"
    try:
        point = np.array(at, dtype=float)
    except (TypeError, ValueError):
        point = np.empty(0)
    if point.shape != (3,) or not np.isfinite(point).all():
        raise InputError(
            f"at is {at!r}; a body or marker, whose origin is meant, or three numbers [m] in the frame of {body!r} is needed"
        )
    R_WB, p_B = _pose(observed, system, body)
    return p_B + R_WB @ point, f"at {point.tolist()} of {body}"


def _axes(observed: Observed, system: System, R_WJ: Array, frame: Any) -> tuple[Array, str]:
    """The rotation (time, 3, 3) of the axes in which components are told, and their name."""
    return (R_WJ, "axes of the joint") if frame is None else axes_of(observed, system, frame, len(R_WJ))


def axes_of(observed: Observed, system: System, frame: Any, n: int) -> tuple[Array, str]:
    """The rotation (n, 3, 3) of the axes of the world, a body or a marker, and their name."""
    name = _name(frame, "frame", "axes")
    if name == WORLD and name not in system.bodies and name not in system.markers:
        return np.broadcast_to(np.eye(3), (n, 3, 3)), "world axes"
    try:
        return observed.at_frame("rotation", name), f"axes of {name}"
    except InputError as error:
        valid = [WORLD, "ground", *system.bodies, *system.markers]
        raise unknown("frame", name, valid, plural="bodies, markers and the world") from error


def _pose(observed: Observed, system: System, body: str) -> tuple[Array, Array]:
    """R_WB (time, 3, 3), p_B (time, 3) of a body, also where a marker has its name."""
    reference = f"body:{body}" if body in system.markers else body
    return observed.at_frame("rotation", reference), observed.at_frame("position", reference)


def _name(given: Any, argument: str, meant: str) -> str:
    if isinstance(given, Element):
        return given.name
    if isinstance(given, str):
        return given
    raise InputError(f"{argument} is {given!r}; the name of a body or marker, for {meant}, is needed")
