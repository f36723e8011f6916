"""States of forces in a step: actuators that integrate, lag or are sampled, and friction that sticks.

    z̃, dt̃ as x̃ in ``step``;   q, v of the joint at the end of the step, where the effort is asked for

    integral    x = x̃ + dt̃ ẋ(q, v, x̃)                         explicit in its own limit, which is not stiff
    lag         τ = (τ̃ + dt̃/T sat u)/(1 + dt̃/T)              implicit: at once where T is short
    bristle     z = (z̃ + dt̃ v)/(1 + dt̃ α |v|/z_s)            implicit, α at z̃ + dt̃ v: never beyond z_s

so that the effort is a function of where the step ends, like that of an actuator without states. Samples are taken where steps begin.
Data of a spring: its states z, z̃, those a step before, then what its force has.
"""

from __future__ import annotations

from nexdyn.forces import actuator
from nexdyn.forces.actuator import DriveStates, effort_and_rates
from nexdyn.forces.joint_friction import Bristle, bristle
from nexdyn.forces.states import DUE
from nexdyn.kernel import formula
from nexdyn.potential.tables import BRISTLE, CONTROLLED
from nexdyn.records import Record

OF_ACTUATOR, OF_BRISTLE = DriveStates.columns, 1
"""How many states."""


class Deflection(Record):
    """State of a bristle in the data of a spring: z, z̃, z a step before."""

    now: float
    begun: float
    before: float


@formula
def controlled(t, data, i, q, v, dt):
    """Effort, x and τ of an actuator; data from its states on."""
    begun, k = DriveStates(data, i + OF_ACTUATOR), i + 3 * OF_ACTUATOR
    x, y, held = begun.integral, begun.lagged, DriveStates(data, i).held
    _, dx, _ = effort_and_rates(t, data, k, q, v, x, y, held)
    x = x + dt * dx
    effort, _, dy = effort_and_rates(t, data, k, q, v, x, y, held)
    lag = actuator.Drive(data, k).lag
    if lag > 0.0:
        # τ̇ = (u − τ̃)/T
        y = y + dt * dy / (1.0 + dt / lag)
        return y, x, y
    return effort, x, y


@formula
def stuck(data, i, v, dt):
    """Effort and deflection of a bristle; data from its state on."""
    k, before = i + 3 * OF_BRISTLE, Deflection(data, i).begun
    trial = before + dt * v
    _, rate = bristle(data, k, v, trial)
    along = dt * (v - rate) / trial if trial != 0.0 else 0.0
    z = trial / (1.0 + along)
    own = Bristle(data, k)
    return -(own.stiffness * z + own.damping * (z - before) / dt + own.viscous * v), z


@formula
def little_of(data, i):
    """A thousandth of F_c/σ₀ of a bristle; data from its state on."""
    own = Bristle(data, i + 3 * OF_BRISTLE)
    return 1e-3 * own.sliding / own.stiffness


@formula
def effort_at_end(code, t, data, i, q, v, dt):
    """τ of a force with states at the end of a step."""
    if code == CONTROLLED:
        effort, _, _ = controlled(t, data, i, q, v, dt)
        return effort
    effort, _ = stuck(data, i, v, dt)
    return effort


@formula
def begin_states(code, data, i, second_order):
    """z̃ of a step."""
    if code != CONTROLLED and code != BRISTLE:
        return
    n, third = OF_ACTUATOR if code == CONTROLLED else OF_BRISTLE, 1.0 / 3.0
    for m in range(n):
        z, before = data[i + m], data[i + 2 * n + m]
        data[i + n + m] = third * (4.0 * z - before) if second_order else z


@formula
def sample_state(t, data, i, q, v):
    """Take the sample of an actuator that is due at t, where the joint is at q, v."""
    k = i + 3 * OF_ACTUATOR
    own, every = DriveStates(data, i), actuator.Drive(data, k).sample
    if every > 0.0 and own.next <= t + DUE * every:
        own.integral, own.held = actuator.sampled(t, data, k, q, v, own.integral)
        DriveStates(data, i + 2 * OF_ACTUATOR).integral = own.integral
        own.next = every * (int(t / every + 1e-6) + 1.0)


@formula
def finish_states(code, t, data, i, q, v, dt):
    """z at the end t of a step, where the joint is at q, v."""
    if code == CONTROLLED:
        _, x, y = controlled(t, data, i, q, v, dt)
        own, before = DriveStates(data, i), DriveStates(data, i + 2 * OF_ACTUATOR)
        before.integral, before.lagged = own.integral, own.lagged
        own.integral, own.lagged = x, y
    elif code == BRISTLE:
        _, z = stuck(data, i, v, dt)
        held = Deflection(data, i)
        held.before = held.now
        held.now = z
