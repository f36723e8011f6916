"""A05, a stiff flyball governor: springs of 8·10⁵ N/m with dampers of 4·10⁴ N s/m hold a slider. IFToMM library.

    python examples/published/A05_governor.py

Explicit methods must follow the fastest decay, some microseconds; implicit ones need not. The motion itself takes seconds.
"""

from math import cos, pi, sin, tau

import numpy as np

import nexdyn as nx

PUBLISHED = {  # height [m] and velocity [m/s] of the slider, speed of the shaft [rad/s]
    0.1: (0.5238364756, 0.459271810, 6.103717809),
    0.5: (0.7432494248, 0.052119780, 5.103415422),
    1.0: (0.5014209224, -0.122151493, 6.271125742),
    2.0: (0.5059092943, -0.240783147, 6.236223614),
}
MOMENTUM = 53.8689986584  # about the shaft, always [N m s]

system = nx.System("A05", gravity=(0, 0, -9.81))
across, along = 0.3 * (1 + 1e-4) / 12, 0.3 * 1e-4 / 6  # of a rod of 1 m and 0.3 kg with a square section of 1 cm
shaft = system.add_body("shaft", mass=0.3, inertia=(across, across, along), position=(0, 0, 0.5))
slider = system.add_body("slider", mass=3.0, inertia=(0.005,) * 3, position=(0, 0, 0.5))
system.add_joint(nx.Revolute("bearing", system.ground, shaft, at=(0, 0, 0), axis=(0, 0, 1), v0=tau))
system.add_joint(nx.Prismatic("guide", shaft, slider, at=(0, 0, 0.5), axis=(0, 0, 1), v0=0.0))
m, c = 5.3, (0.3 * 0.5 + 5.0 * 1.0) / 5.3  # a rod with its ball of 5 kg: mass, way from the hinge to the centre of mass
swing = across + 0.3 * (c - 0.5) ** 2 + 5.0 * (1.0 - c) ** 2
for side, sign in (("left", -1), ("right", 1)):
    hinge, way = np.array([0.05 * sign, 0, 1]), np.array([sign * cos(pi / 6), 0, -sin(pi / 6)])
    angle = pi / 6 if sign > 0 else pi - pi / 6  # about y, from x to the rod: axis x of the body is along the rod
    rod = system.add_body(
        f"{side} rod", mass=m, inertia=(along, swing, swing), position=hinge + c * way,
        orientation=(cos(angle / 2), 0, sin(angle / 2), 0),
    )  # fmt: skip
    system.add_joint(nx.Revolute(f"{side} hinge", shaft, rod, at=hinge, axis=(0, 1, 0), v0=0.0))
    ends = {"anchor_a": (0.05 * sign, 0, 0), "anchor_b": (0.5 - c, 0, 0)}
    system.add_force(nx.PointSpring(f"{side} spring", slider, rod, **ends, stiffness=8e5, damping=4e4, length=0.5))


def momentum(result):
    """Of all bodies about the shaft at the end, Σ R I Rᵀ ω + p × m v along z [N m s]."""
    total = 0.0
    for name, body in system.bodies.items():
        solid = body.resolved(system.values)
        R, w, p, v = (
            of(name)[-1].values for of in (result.rotation, result.angular_velocity, result.position, result.velocity)
        )
        total += (R @ solid.inertia @ R.T @ w + np.cross(p, solid.mass * v))[2]
    return total


for method in (nx.DormandPrince(rtol=1e-10, atol=1e-12), nx.HHT(dt=1e-3)):
    result = nx.simulate(system, 2.0, method, output_times=[0.0, *PUBLISHED])
    print(f"\n{method.name}, {result.recording.steps} steps")
    height, velocity = result.position("slider").values[1:, 2], result.velocity("slider").values[1:, 2]
    speed = result.joint_velocity("bearing").values[1:]
    for n, (t, published) in enumerate(PUBLISHED.items()):
        for name, x, y in zip(("s", "ds/dt", "ω"), (height[n], velocity[n], speed[n]), published, strict=True):
            print(f"{name}({t:g} s)  {x:.9f}  published  {y:.9f}  error {abs(x - y):.1e}")
    turning = momentum(result)  # nothing turns the shaft
    print(f"angular momentum  {turning:.9f}  published  {MOMENTUM:.9f}  error {abs(turning - MOMENTUM):.1e}")
