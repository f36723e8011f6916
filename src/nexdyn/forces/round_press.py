"""What presses of a sphere on a solid (``ball``), and of a cylinder, a cone, a capsule or an ellipsoid on a half-space: over an area
(``sunk``), at a point or along a line (``touched``)."""

from __future__ import annotations

from math import sqrt

from nexdyn.forces import ball, touched
from nexdyn.forces.contact import across, along, running
from nexdyn.forces.contact_data import OVERLAP, PointData
from nexdyn.forces.own_law import OWN, own_damping, own_force, own_hold, own_slope, own_work
from nexdyn.forces.pressed import DISC, NO_SPREAD, Pressed, nothing_pressed, relative, share
from nexdyn.forces.sunk import RoundData, sunk
from nexdyn.geometry.solid import CYLINDER, POINT
from nexdyn.kernel import formula, outlined
from nexdyn.spatial.algebra import Force, T, Vec3, cross, plus_turned


@outlined
def press_ball(data, k, X_A, V_A, X_B, V_B, rubs):
    """The sums of a sphere about the centre of A and a solid (``ball``), and where it touches: on the solid, of two spheres midway."""
    j, o, own = k + OVERLAP, Vec3(0.0, 0.0, 0.0), PointData(data, k)
    d, n = ball.distance(data, j, T(X_B.R) @ (X_A.p - X_B.p))
    n, depth = X_B.R @ n, own.radius - d
    below = d + 0.5 * depth if int(ball.SolidData(data, j).kind) == POINT else d
    law, x = ball.law_of(data, k, j, depth), X_A.p - below * n
    v, w = relative(X_A, V_A, X_B, V_B, x)
    rate = -(n @ v)
    f_n = ball.pressing(data, k, law, depth, rate)
    f, torque = f_n * n, 0.0
    if rubs:
        rub = along(running(data, k, X_A, X_B), n)
        slip, about = v + rub.u, law.turning * (n @ w)
        glide = across(rub, slip - (n @ slip) * n)
        s = own.mu * f_n / sqrt(glide @ glide + about * about + own.friction_speed * own.friction_speed)
        f, torque = f - s * across(rub, glide), -s * law.turning * about
    gyration = law.turning / DISC
    return Pressed(
        Force(torque * n, f), f_n * n, f_n, o, f_n * gyration * gyration, law.area, depth,
        share(1.0 + own.damping * rate) * law.peak, ball.hold(data, k, law, f_n, depth), NO_SPREAD, NO_SPREAD,
    ), x  # fmt: skip


@formula
def sunk_here(data, k, X_A, X_B):
    """What of a round solid lies under the plane of B, or is touched by it, in the axes of A (``sunk``, ``touched``)."""
    solid, n = RoundData(data, k + OVERLAP), Vec3(X_B.R.xz, X_B.R.yz, X_B.R.zz)
    m, h = T(X_A.R) @ n, n @ (X_A.p - X_B.p)
    if solid.by == touched.OVER_AREA:
        return sunk(int(solid.kind), solid.size, solid.margin, m, h)
    law = touched.Law(solid.by, PointData(data, k).exponent, solid.reach)
    if int(solid.kind) == CYLINDER:
        return touched.of_cylinder(law, solid.size, m, h)
    return touched.of_ellipsoid(law, solid.size, m, h)


@formula
def round_energy(data, k, X_A, X_B):
    """U."""
    w, own = sunk_here(data, k, X_A, X_B), PointData(data, k)
    if own.exponent == OWN:
        return own_work(own.stiffness, w.depth, 0.0, 0.0)
    return own.stiffness * w.energy


@formula
def round_slopes(data, k, w, f_n, rate):
    """What area and volume count of the slopes ∂f_n/∂δ and ∂f_n/∂δ̇, where f_n > 0."""
    own = PointData(data, k)
    if own.exponent == OWN:
        return own_slope(own.stiffness, w.depth, rate), own_damping(own.stiffness, w.depth, rate)
    return f_n / w.volume.size, own.damping * own.stiffness


@formula
def on_plane(x, X_A, X_B):
    """The foot on the plane of B of the point x of A."""
    p, n = plus_turned(X_A.p, X_A.R, x), Vec3(X_B.R.xz, X_B.R.yz, X_B.R.zz)
    return p - (n @ (p - X_B.p)) * n


@outlined
def press_round(data, k, X_A, V_A, X_B, V_B, rubs):
    """The sums of a round solid and a half-space about the centre of pressure, and that; where they are apart, the nearest point."""
    w, n, o = sunk_here(data, k, X_A, X_B), Vec3(X_B.R.xz, X_B.R.yz, X_B.R.zz), Vec3(0.0, 0.0, 0.0)
    own = PointData(data, k)
    if not w.volume.size > 0.0:
        return nothing_pressed(w.depth), on_plane(w.lowest, X_A, X_B)
    p = on_plane(w.volume.centre, X_A, X_B)
    v, turning = relative(X_A, V_A, X_B, V_B, p)
    if own.exponent == OWN:  # at a point
        f_n = own_force(own.stiffness, w.depth, -(n @ v))
        f = f_n * n
        if rubs:
            rub = along(running(data, k, X_A, X_B), n)
            slip = v + rub.u
            glide = across(rub, slip - (n @ slip) * n)
            f = f - (own.mu * f_n / sqrt(glide @ glide + own.friction_speed * own.friction_speed)) * across(rub, glide)
        return Pressed(
            Force(o, f), f_n * n, f_n, o, 0.0, 0.0, w.depth, 0.0, own_hold(own.stiffness, w.depth, f_n), NO_SPREAD,
            NO_SPREAD,
        ), p  # fmt: skip
    grip = share(1.0 - own.damping * (n @ v))
    f_n, gyration = own.stiffness * w.volume.size * grip, sqrt((w.volume.m11 + w.volume.m22) / w.volume.size)
    # pressure that grows with how fast each point goes deeper, as it turns: − k a ∫ y × n (y · u) dV, u = n × ω
    one, two, u = X_A.R @ w.one, X_A.R @ w.two, cross(n, turning)
    u1, u2 = u @ one, u @ two
    y = (w.volume.m11 * u1 + w.volume.m12 * u2) * one + (w.volume.m12 * u1 + w.volume.m22 * u2) * two
    rms = own.damping * sqrt(share(u @ y) / w.volume.size)
    rate = own.stiffness * own.damping * (1.0 if 2.0 * rms <= grip else grip / (2.0 * rms))
    rocking, f = -rate * cross(y, n), f_n * n
    torque = rocking
    if rubs:
        r, rub = DISC * gyration, along(running(data, k, X_A, X_B), n)
        slip = v + rub.u
        glide, about_n = across(rub, slip - (n @ slip) * n), r * (n @ turning)
        s = own.mu * f_n / sqrt(glide @ glide + about_n * about_n + own.friction_speed * own.friction_speed)
        f, torque = f - s * across(rub, glide), torque - (s * r * about_n) * n
    stiff = own.stiffness * max(w.area.size, w.volume.size / w.depth)
    return Pressed(
        Force(torque, f), f_n * n, f_n, o, f_n * gyration * gyration, w.pressed, w.depth, grip * own.stiffness * w.peak, stiff,
        NO_SPREAD, NO_SPREAD,
    ), p  # fmt: skip
