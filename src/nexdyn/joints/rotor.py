"""Rotors: a balanced body that spins about an axis of its carrier, on a hinge, driven, geared or free.

With the carrier's angular velocity Ω, the spin q̇ about the unit axis e, J about e and K across it, the rotor's moment of momentum is

    L = J (q̇ + e · Ω) e + K (Ω − (e · Ω) e)

and the hinge bears L̇ − (L̇ · e) e, the gyroscopic moment J q̇ Ω × e among it; about e it bears nothing, so that what drives the rotor
turns the carrier back. A gear q = n q_b makes the inertia n² J about the axis of joint b.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nexdyn.checked_calls import checked_call
from nexdyn.errors import InputError
from nexdyn.joints.revolute import Revolute
from nexdyn.model.body import Body
from nexdyn.model.coupling import Gear
from nexdyn.model.element import name_of
from nexdyn.model.joint import Joint
from nexdyn.model.parameters import frozen, names_in, number
from nexdyn.model.placement import direction, frame
from nexdyn.model.system import System
from nexdyn.spatial.rotations import quaternion


@checked_call
def add_rotor(
    system: System,
    name: str,
    carrier: Body | str,
    *,
    mass: Any,
    inertia: Any,
    transverse: Any = None,
    at: Any = None,
    axis: Any = (0.0, 0.0, 1.0),
    speed: Any = None,
    geared_to: Joint | str | None = None,
    ratio: Any = None,
    shapes: Any = (),
    **options: Any,
) -> Revolute:
    """Add a balanced rotor on a carrier: a body `name`, its centre of mass on the axis, and a Revolute joint `name`, which is returned.

    mass [kg]; inertia [kg m²] about the axis; transverse [kg m²] across it, half of that, as of a thin disk, by default.
    at [m], axis: a point, its centre of mass, and the axis in the world as described; the carrier's origin and z by default.
    speed [rad/s] against the carrier at the start. geared_to, ratio: a joint, and the turns of the rotor for one of that joint, each
    against its own parent; a Gear `name` is then added, for spur and bevel gears alike. shapes: of the body, whose z is the axis.
    options: of the Revolute joint, like damping, friction, armature.

    The rotor's gyroscopic moment acts on the carrier by the joint, and what drives it turns the carrier back. Raises InputError for
    what is wrong, and then adds nothing.
    """
    what = f"rotor {name!r}"
    body = system.body(name_of(carrier))
    if name in system.bodies or name in system.joints:
        raise InputError(f"a body or a joint {name!r} exists already; a rotor is both, give it another name")
    if geared_to is not None and name in system.couplings:
        raise InputError(
            f"a coupling {name!r} exists already; that of a geared rotor has its name, give it another one"
        )
    if names_in(frozen(axis)):
        raise InputError(f"axis of {what} has parameters; it takes numbers, as the orientation of a body does")
    for quantity, value in (("mass", mass), ("inertia", inertia), ("transverse", transverse)):
        if value is None and quantity != "transverse":
            raise InputError(f"{quantity} of {what} is None; it must be greater than 0")
        if value is not None and not number(frozen(value), system.values, f"{quantity} of {what}") > 0.0:
            raise InputError(f"{quantity} of {what} is {value}; it must be greater than 0")
    if refused := sorted({"v0", "q0", "at", "axis"} & set(options)):
        raise InputError(
            f"{what} takes no {refused[0]}; its speed at the start is `speed`, and it starts where its shapes are drawn"
        )
    if geared_to is not None and options.get("mimic") is not None:
        raise InputError(f"{what} is geared to {name_of(geared_to)!r}, and has a mimic; give one of them")
    if (ratio is None) is not (geared_to is None):
        raise InputError(
            f"{what}: a gear needs geared_to, a joint, and ratio, its turns for one of that joint; give both or none"
        )
    joint = None if geared_to is None else system.joint(name_of(geared_to))
    if joint is not None and number(frozen(ratio), system.values, f"ratio of {what}") == 0.0:
        raise InputError(f"ratio of {what} is 0; leave geared_to out, or drive the rotor")
    place = body.position if at is None else at
    across = f"=({inertia[1:]})/2" if isinstance(inertia, str) else inertia / 2.0
    R = frame(direction(frozen(axis), {}, f"axis of {what}"))
    wheel = {
        "mass": mass, "inertia": (across, across, inertia) if transverse is None else (transverse, transverse, inertia),
        "position": place, "orientation": quaternion(np.array([R]))[0], "shapes": shapes,
    }  # fmt: skip
    for tried in (system.with_parameters({}), system):  # what is wrong is said before anything is added
        tried.add_body(name, **wheel)
        hinge = tried.add_joint(Revolute(name, body.name, name, at=place, axis=axis, v0=speed, **options))
        if joint is not None:
            tried.add_coupling(Gear(name, name, joint.name, ratio=ratio))
    return hinge
