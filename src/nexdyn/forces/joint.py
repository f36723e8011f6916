"""What acts in a joint by itself: spring, damper, friction.

    effort = −k (q − q₀) − d v − f tanh(v/v_f)                      a degree of freedom with v = q̇
    torque = −Jᵣ⁻¹(−φ) K (φ − φ₀) − D ω − f tanh(ω/v_f)             a spherical joint, φ = log q its rotation vector

The first part of each is −∂U/∂q of U = ½ k (q − q₀)², ½ (φ − φ₀)ᵀ K (φ − φ₀): φ̇ = Jᵣ⁻¹(φ) ω and Jᵣ⁻ᵀ(φ) = Jᵣ⁻¹(−φ).
Coulomb's friction f is regularised: it grows smoothly to f over a few times the friction speed v_f.
"""

from __future__ import annotations

from nexdyn.kernel import formula
from nexdyn.spatial.algebra import Quat, Vec3, log_quaternion, right_jacobian_inverse_times
from nexdyn.spatial.lanes import tanh


@formula
def spring_damper(q, v, stiffness, rest, damping):
    """−k (q − q₀) − d v."""
    return -(stiffness * (q - rest)) - damping * v


@formula
def friction_effort(v, friction, friction_speed):
    """−f tanh(v/v_f)."""
    return -(friction * tanh(v / friction_speed))


@formula
def spherical_spring(q, stiffness, rest):
    """−Jᵣ⁻¹(−φ) K (φ − φ₀) for the unit quaternion q; K diagonal."""
    phi = log_quaternion(Quat(q.w, q.x, q.y, q.z))
    K = Vec3(stiffness.x * (phi.x - rest.x), stiffness.y * (phi.y - rest.y), stiffness.z * (phi.z - rest.z))
    return -right_jacobian_inverse_times(-phi, K)


@formula
def spring_energy(q, stiffness, rest):
    """½ k (q − q₀)²."""
    return 0.5 * (stiffness * ((q - rest) * (q - rest)))
