"""A ball bearing of twelve balls whose inner race turns: the balls spin up by friction, roll, and go round at the speed of a cage.

    python examples/published/ball_bearing.py

Rolling at both races gives ½ ω (1 − d/D), d the diameter of a ball and D that of the circle on which they go round. The balls are pressed
in by 1 µm a side and turned outwards by their inertia: what is left of their radii between the points of contact is part of the answer.
"""

from math import cos, pi, sin

import numpy as np

import nexdyn as nx

race, ball, tight, mass, rate, count, stiff = 0.02, 0.005, 1e-6, 4e-3, 50.0, 12, 1e7
around = race + ball - tight  # radius of the circle on which the balls go round
times = (0.0002, 0.0005, 0.001, 0.03, 0.05)

system = nx.System("bearing")
inner = system.add_body("race", mass=0.1, inertia=(1e-4, 1e-4, 1e-4))
system.add_joint(nx.Revolute("turns", system.ground, inner, axis=(0, 0, 1)))
system.add_driver(nx.Driver("drive", "turns", f"={rate}*t"))  # at once
law = {"stiffness": stiff, "exponent": 1.0, "damping": 1.0, "friction": 0.3}
for i in range(count):
    place = (around * cos(2 * pi * i / count), around * sin(2 * pi * i / count), 0)
    name = system.add_body(f"ball{i}", mass=mass, inertia=(0.4 * mass * ball**2,) * 3, position=place)
    system.add_joint(nx.Planar(f"plane{i}", system.ground, name))
    system.add_force(nx.SphereContact(f"inner{i}", name, inner, radius_a=ball, radius_b=race, **law))
    outer = {"radius_b": race + 2 * (ball - tight), "hollow": True}
    system.add_force(nx.SphereContact(f"outer{i}", name, system.ground, radius_a=ball, **outer, **law))

rigid = 0.5 * rate * (1 - ball / (race + ball))
out = mass * around * rigid**2 / (2 * stiff)  # by which a ball is turned outwards
spin = rate * (race - 0.5 * (tight - out)) / (2 * ball - tight)
closed_form = spin * (ball - 0.5 * (tight + out)) / (around + out)

result = nx.simulate(system, times[-1], nx.HHT(rtol=1e-7), output_times=times)
p = np.stack([result.position(f"ball{i}").values for i in range(count)])
v = np.stack([result.velocity(f"ball{i}").values for i in range(count)])
rates = (p[..., 0] * v[..., 1] - p[..., 1] * v[..., 0]) / np.sum(p[..., :2] ** 2, axis=-1)
for t, cage, spread in zip(times, rates.mean(axis=0), np.ptp(rates, axis=0), strict=True):
    if t < 0.03:
        print(f"spinning up: {cage:.4f} rad/s after {1e3 * t:g} ms")
        continue
    for name, x, y in (("cage", cage, closed_form), ("fastest ball less slowest", spread, 0.0)):
        print(f"{name}({t:g} s) [rad/s]  {x:.10f}  closed form  {y:.10f}  error {abs(x - y):.1e}")
turns = abs(float(result.angular_velocity("ball0")[-1, 2]))
print(f"½ ω (1 − d/D) of rigid balls: {rigid:.4f} rad/s; a ball turns at {turns:.4f} rad/s")
