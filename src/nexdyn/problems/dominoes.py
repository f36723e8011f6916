"""A row of dominoes that topples, each about its lower edge, which is hinged, without friction: the assumptions of van Leeuwen ("The domino
effect", 2010). Impacts are plastic: what has struck goes on leaning on what it has struck.

Domino i, h high and d thick, has turned by θ_i; its upper front edge rests on the back of the next, a pitch p = s + d further:

    h sin(θ_i − θ_{i+1}) = p cos θ_{i+1} − d

so that the foremost of n dominoes sets the motion of all, θ̇_i = w_i θ̇_n, and the energy says how fast they go until it strikes, where
sin θ_n = s/h:

    ½ I Σ w_i² θ̇_n² + m g Σ (½ h cos θ_i + ½ d sin θ_i) = E,   I = m (h² + d²)/3

There the velocities are projected on the motions that are left, of n + 1 dominoes: θ̇⁺ = w (w · θ̇⁻)/(w · w). The speed of the wave is the
pitch over the time from one strike to the next. It tends to a limit along the row, whatever the first domino was given.

Here boxes touch over areas with a foundation that is stiff, and damped so that hardly anything rebounds. The values are those of the rigid
row, which `tests/test_dominoes.py` integrates.
"""

from __future__ import annotations

import numpy as np

from nexdyn.forces.contact_group import Contact
from nexdyn.integrate.methods import HHT, ImplicitEuler
from nexdyn.integrate.pairs.dormand_prince import DormandPrince
from nexdyn.joints import Revolute
from nexdyn.model.event import Event
from nexdyn.model.shapes import Box
from nexdyn.model.system import System
from nexdyn.problems.problem import Problem, Run
from nexdyn.results.result import Result

HEIGHT, THICK, WIDE, GAP, MASS = 0.048, 0.006, 0.024, 0.018, 0.01
PITCH = GAP + THICK
PUSH = 4.0
"""Angular velocity that the first domino is given [rad/s]."""
LAYER, DAMPING, FLOOR = 1e9, 20.0, 1e6
"""Foundation between dominoes [N/m³] and its damping [s/m], stiffness of a corner on the floor [N/m]."""


def row(count: int) -> System:
    """A row of dominoes along x, hinged at their lower front edges, the first of which is pushed."""
    system = System("dominoes")
    for i in range(count):
        name, edge = f"domino{i}", PITCH * i
        place = (edge - 0.5 * THICK, 0.0, 0.5 * HEIGHT)
        system.add_body(name, mass=MASS, position=place, shapes=[Box((THICK, WIDE, HEIGHT))])
        spin = 0.0 if i else PUSH
        system.add_joint(Revolute(f"hinge{i}", "ground", name, at=(edge, 0.0, 0.0), axis=(0, 1, 0), v0=spin))
    system.add_contact(Contact("floor", "domino*", stiffness=FLOOR, exponent=1.0, damping=20.0, friction=0.0))
    for i in range(count - 1):
        pair = Contact(f"strike{i}", f"domino{i}", f"domino{i + 1}", foundation_b=LAYER, damping=DAMPING, friction=0.0)
        system.add_contact(pair)
        system.add_event(Event(f"struck{i + 1}", contact=f"strike{i}", direction="falling", once=True))
    return system


def speeds(result: Result, count: int) -> np.ndarray:
    """Speed of the wave from each strike to the next [m/s] (count − 2,), NaN where there was none."""
    when = {event["name"]: event["time"] for event in result.events}
    return PITCH / np.diff([when.get(f"struck{i}", np.nan) for i in range(1, count)])


COUNT = 6
WAVE = (0.303968308891, 0.506485265418, 0.693067588426, 0.843514745960)
"""Speeds of the wave of the rigid row [m/s]."""
UNTIL = 0.3
"""After the last strike of the rigid row, 0.2878 s."""

DOMINOES = Problem(
    "dominoes", "row of dominoes that topples", "van Leeuwen 2010; rigid, recomputed", lambda: row(COUNT),
    {f"wave {i + 2}": "m/s" for i in range(COUNT - 2)}, {UNTIL: WAVE},
    lambda result: np.tile(speeds(result, COUNT), (len(result.recording.t), 1)),
    (
        Run("minimal coordinates, ABA", DormandPrince(rtol=1e-6, atol=1e-9), 2e-3),
        Run("absolute coordinates, index 3, HHT-α", HHT(dt=2e-4), 2e-3),
        Run("potential, implicit Euler with bdf2", ImplicitEuler(2e-4, bdf2=True), 2e-3),
    ),
)  # fmt: skip
