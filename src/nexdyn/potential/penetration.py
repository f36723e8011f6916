"""What a penetration costs in a step, elastic and by Hunt and Crossley's damping: of joint stops, and of contacts with planes.

    f(δ) = k δᵉ max(0, 1 + a δ̇),   δ̇ = (δ − δ̃)/dt            where δ > 0, else 0; δ̃ as c̃ in ``springs``
    E = dt² ∫ f dδ = dt² k [(1 − b δ̃) sᵉ⁺¹/(e + 1) + b sᵉ⁺²/(e + 2)] from s = max(0, δ̃ − 1/b) to δ,      b = a/dt

With the velocity of the step the force hangs on δ alone, so it has an energy, what it dissipates included. It grows with δ: E is
convex. Where the contact begins, and where the damping would pull (1 + a δ̇ = 0) and lets go, dE/dδ is continuous, with a kink.
A contact's f may be a function of the user's (``own_law``), E then its integral by quadrature.
Data: those of a joint stop; of a contact with a function its address, 0, 0 are k, e, a.
"""

from __future__ import annotations

from nexdyn.forces.joint_stop import Stop
from nexdyn.forces.own_law import OWN, own_damping, own_force, own_slope, own_work
from nexdyn.kernel import formula, outlined


@formula
def primitive(s, e, b, past):
    """(1 − b δ̃) sᵉ⁺¹/(e + 1) + b sᵉ⁺²/(e + 2)."""
    grown = s ** (e + 1.0)
    return (1.0 - b * past) * grown / (e + 1.0) + b * grown * s / (e + 2.0)


@outlined
def own_step(address, depth, past, dt):
    """The same of a function of the user's."""
    if not (depth > 0.0):
        return 0.0, 0.0, 0.0
    h, rate = dt * dt, (depth - past) / dt
    stiff = own_slope(address, depth, rate) + own_damping(address, depth, rate) / dt
    return h * own_work(address, depth, past, 1.0 / dt), own_force(address, depth, rate), h * stiff


@formula
def pressed(k, e, a, depth, past, dt):
    """E, f and dt² df/dδ at the penetration `depth`."""
    if e == OWN:
        return own_step(k, depth, past, dt)
    b = a / dt
    least = max(0.0, past - 1.0 / b) if b > 0.0 else 0.0
    if not (depth > least):
        return 0.0, 0.0, 0.0
    h, grip = dt * dt, 1.0 + b * (depth - past)
    E = h * k * (primitive(depth, e, b, past) - primitive(least, e, b, past))
    power = k * depth**e
    return E, power * grip, h * (e * power / depth * grip + power * b)


@formula
def both_ends(data, i, c, past, dt):
    """E, dE/dc, d²E/dc² of the stops below q_min and above q_max at c; data from i on."""
    stop = Stop(data, i)
    k, e, a = stop.stiffness, stop.exponent, stop.damping
    E_low, f_low, K_low = pressed(k, e, a, stop.lower - c, stop.lower - past, dt)
    E_high, f_high, K_high = pressed(k, e, a, c - stop.upper, past - stop.upper, dt)
    return E_low + E_high, dt * dt * (f_high - f_low), K_low + K_high


@formula
def cancelled(data, i, c, past, dt):
    """The size of the terms that cancel in E: with b δ̃ ≫ 1 it is small beside them."""
    stop = Stop(data, i)
    k, e, b = stop.stiffness, stop.exponent, stop.damping / dt
    low, high = max(0.0, stop.lower - c), max(0.0, c - stop.upper)
    at = abs(stop.lower - past) if low > 0.0 else abs(past - stop.upper)
    depth = max(low, high)
    if e == OWN:
        return 0.0
    return dt * dt * k * (1.0 + b * at) * depth ** (e + 1.0) if depth > 0.0 else 0.0
