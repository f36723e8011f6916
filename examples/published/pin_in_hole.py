"""A frictionless pin in a hole with a clearance: it bounces from chord to chord, with the energy and the moment of momentum that it had.

    python examples/published/pin_in_hole.py

The contact of a sphere in a hollow one, in a plane. The wall gives after Hertz; the places are those of that pin, recomputed on their own.
"""

from math import hypot, sqrt

import numpy as np

import nexdyn as nx

PUBLISHED = {
    0.01: (0.594523494, 0.497076637),
    0.05: (0.498461670, -0.510937594),
    0.1: (0.551911722, -0.295076332),
}  # x, y [mm]
mass, clearance, v0 = 0.1, 1e-3, (0.06, 0.08)  # [kg, m, m/s]


def hole(stiffness: float) -> nx.System:
    """The pin begins half of the clearance off the middle."""
    system = nx.System("hole", gravity=(0, 0, 0))
    pin = system.add_body("pin", mass=mass, inertia=(1e-5, 1e-5, 1e-5), position=(0.5 * clearance, 0, 0))
    system.add_joint(nx.Planar("plane", system.ground, pin, v0=(*v0, 0)))
    radii = {"radius_a": 0.01, "radius_b": 0.01 + clearance}
    system.add_force(nx.SphereContact("wall", pin, system.ground, **radii, hollow=True, stiffness=stiffness))
    return system


system = hole(1e8)
result = nx.simulate(system, 0.1, nx.DormandPrince(rtol=1e-10, atol=1e-13), output_times=list(PUBLISHED))
p, v = result.position("pin").values[:, :2], result.velocity("pin").values[:, :2]
energy, spin = result.energy()["total"].values, mass * (p[:, 0] * v[:, 1] - p[:, 1] * v[:, 0])
for k, (t, published) in enumerate(PUBLISHED.items()):
    for name, x, y in zip(("x [mm]", "y [mm]"), 1e3 * p[k], published, strict=True):
        print(f"{name[0]}({t:g} s){name[1:]}  {x:.10f}  published  {y:.10f}  error {abs(x - y):.1e}")
    for name, x, y in (("energy", 1e3 * energy[k], 0.5), ("moment of momentum", 1e6 * spin[k], 4.0)):
        print(
            f"{name}({t:g} s) [{'mJ' if name == 'energy' else 'mg m²/s'}]  {x:.10f}  closed form  {y:.10f}  error {abs(x - y):.1e}"
        )

# A rigid pin runs along chords which are all as far from the middle: from one strike to the next it takes 2 √(c² − b²)/v.
speed = hypot(*v0)
b = 0.5 * clearance * v0[1] / speed
rigid = 2 * sqrt(clearance**2 - b**2) / speed
for stiffness in (1e6, 1e8, 1e10):
    fine = nx.simulate(
        hole(stiffness), 0.1, nx.DormandPrince(rtol=1e-8, atol=1e-11), output_times=np.linspace(0, 0.1, 10001)
    )
    off = np.linalg.norm(fine.position("pin").values[:, :2], axis=1)
    strikes = fine.recording.t[1:-1][(off[1:-1] > off[:-2]) & (off[1:-1] >= off[2:])]
    print(
        f"stiffness {stiffness:.0e}: from strike to strike {1e3 * np.diff(strikes).mean():.2f} ms, rigid {1e3 * rigid:.2f} ms"
    )
