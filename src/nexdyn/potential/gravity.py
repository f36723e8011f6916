"""Gravity: Ψ = −m g · p of the centre of mass p, taken from the start of the step so that no digits are lost.

E = −dt² m g · δ,   gradient for δ −dt² m g,   Hessian 0
"""

from __future__ import annotations

from nexdyn.kernel import formula


@formula
def value(m, g, x, dt):
    """E of a body at x = (θ, δ)."""
    return -(dt * dt * m) * (g @ x.v)


@formula
def gradient(m, g, dt):
    """For δ."""
    return -(dt * dt * m) * g
