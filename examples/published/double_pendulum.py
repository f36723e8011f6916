"""Double pendulums of 1 kg and 1 m a link, from horizontal and at rest: point masses, and uniform rods. Extended precision.

    python examples/published/double_pendulum.py

The motion is chaotic: what is a little off grows. Three formulations agree with the published angles while their errors allow it.
"""

import numpy as np

import nexdyn as nx

PUBLISHED = {  # angles of the links from straight down [rad]
    "points": {
        0.5: (0.5704720512, 1.2038751112),
        1.0: (-0.6250876998, -1.0345850857),
        2.0: (-0.4829715343, -1.3240487123),
    },
    "rods": {
        0.5: (0.4481426259, 1.0419628873),
        1.0: (-1.2077162382, -0.8143910231),
        2.0: (-0.0827583068, 0.4073620749),
    },
}


def double_pendulum(of: str) -> nx.System:
    system = nx.System(f"double pendulum of {of}", gravity=(0, -9.81, 0))
    inertia, where = ((0, 0, 0), 1.0) if of == "points" else ((1 / 12, 1 / 12, 1 / 12), 0.5)
    parent = system.ground
    for i in range(2):
        link = system.add_body(f"link{i + 1}", mass=1.0, inertia=inertia, position=(i + where, 0, 0))
        system.add_joint(nx.Revolute(f"hinge{i + 1}", parent, link, at=(i, 0, 0), axis=(0, 0, 1)))
        parent = link
    return system


for of, published in PUBLISHED.items():
    system = double_pendulum(of)
    for method in (nx.RungeKutta4(1e-3), nx.HHT(dt=5e-4), nx.ImplicitEuler(5e-4, bdf2=True)):
        result = nx.simulate(system, 2.0, method, output_every=round(0.5 / method.dt))  # a sample each 0.5 s
        # q = 0 is as described: links along x; the second hinge counts from the first link
        down = np.pi / 2 + result.joint_position().values.cumsum(axis=1)
        print(f"\n{of}, {method.name}")
        for t, angles in published.items():
            found = down[round(t / 0.5)]
            for i, (x, y) in enumerate(zip(np.remainder(found + np.pi, 2 * np.pi) - np.pi, angles, strict=True)):
                print(f"θ{i + 1}({t:g} s)  {x:.10f}  published  {y:.10f}  error {abs(x - y):.1e}")

# Two starts a billionth of a radian apart, after ten seconds:
ends = [
    nx.simulate(double_pendulum("rods"), 10.0, nx.DormandPrince(rtol=1e-12), q0={"hinge1": q}).position("link2")[-1]
    for q in (0.0, 1e-9)
]
print(f"\n1e-9 rad apart at the start, {float(abs(ends[1] - ends[0]).max()):.1e} m after 10 s")
