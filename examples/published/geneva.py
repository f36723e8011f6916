"""A Geneva drive of four slots: while the pin is in a slot the wheel turns, by a quarter, and it stands until the next.

    python examples/published/geneva.py

The crank is r = d/√2 long, d the distance of the shafts, so that the pin enters along the slot, without a shock. While it is in one,
tan β = r sin α/(d − r cos α); else dry friction in its shaft holds the wheel. The pin gives by F/k, which is what the angles are off by.
"""

from math import atan2, cos, pi, sin

import nexdyn as nx

d, r_pin, thick = 0.1, 0.006, 0.01
r, rate, before = d * sin(pi / 4), 2 * pi, 0.15  # before: how far the crank is from the slot at the start [rad]
times = (0.04, 0.08, 0.12, 0.16, 0.2, 0.24, 0.6, 1.0, 1.08, 1.12, 1.16, 1.2, 1.3)


def closed_form(t: float) -> float:
    """How far the wheel has turned: a quarter turn backwards each time that the crank goes round."""
    turns, alpha = divmod(rate * t - pi / 4 - before + pi, 2 * pi)
    alpha = min(max(alpha - pi, -pi / 4), pi / 4)
    return -atan2(r * sin(alpha), d - r * cos(alpha)) - pi / 4 - pi / 2 * turns


def geneva(stiffness: float) -> nx.System:
    """A pin that goes round, and a wheel of four prisms with a slot between each and the next."""
    system = nx.System("geneva", gravity=(0, 0, 0))
    turned = -pi / 4 - before
    crank = system.add_body(
        "crank", mass=1.0, inertia=(1e-3, 1e-3, 1e-3), orientation=(cos(turned / 2), 0, 0, sin(turned / 2)),
        collision=[nx.Sphere(r_pin, position=(r, 0, 0))],
    )  # fmt: skip
    system.add_joint(nx.Revolute("input", system.ground, crank, axis=(0, 0, 1)))
    system.add_driver(nx.Driver("motor", "input", f"={rate}*t"))
    corners = ((r_pin, r_pin), (r, r_pin), (r_pin, r))
    parts = [
        nx.Hull(tuple((c * x - s * y, s * x + c * y, z) for x, y in corners for z in (-thick / 2, thick / 2)))
        for c, s in ((1, 0), (0, 1), (-1, 0), (0, -1))
    ]
    wheel = system.add_body(
        "wheel", mass=1.0, inertia=(1e-4, 1e-4, 1e-4), position=(d, 0, 0),
        orientation=(cos(pi / 8), 0, 0, sin(pi / 8)), collision=parts,
    )  # fmt: skip
    dry = {"friction": 0.05, "friction_speed": 0.05}
    system.add_joint(nx.Revolute("output", system.ground, wheel, at=(d, 0, 0), axis=(0, 0, 1), **dry))
    system.add_contact(nx.Contact("slots", crank, wheel, stiffness=stiffness, exponent=1.0, damping=20.0))
    return system


system = geneva(2e7)
result = nx.simulate(system, times[-1], nx.HHT(rtol=1e-7), output_times=times)
for t, x in zip(times, result.joint_position("output").values.ravel(), strict=True):
    print(f"β({t:g} s) [rad]  {x:.10f}  closed form  {closed_form(t):.10f}  error {abs(x - closed_form(t)):.1e}")

# A pin four times as stiff gives a quarter.
off = []
for stiffness in (2e7, 8e7):
    result = nx.simulate(geneva(stiffness), 0.12, nx.HHT(rtol=1e-7), output_times=[0.12])
    off.append(float(result.joint_position("output").values.ravel()[-1]) - closed_form(0.12))
print(f"four times as stiff, the angle is off by a part of {off[1] / off[0]:.4f}")
