"""A01, the simple pendulum: a point mass on a massless bar, 42 periods long. IFToMM library of benchmark problems.

    python examples/published/A01_simple_pendulum.py

A hinge carries the bar: a body needs no shape, and a point mass no moment of inertia.
"""

import numpy as np

import nexdyn as nx

PERIOD = 2.3678419475762  # 4 K(sin 45°) √(l/g) [s]
PUBLISHED = {  # x, y of the mass [m] at t [s]
    1.0: (0.9862917511, -0.1650108531),
    5.0: (-0.9423054350, -0.3347543384),
    10.0: (-0.2750874626, -0.9614192051),
    100.0: (-0.1815133514, -0.9833884803),
}

system = nx.System("A01 simple pendulum", gravity=(0, -9.81, 0))
mass = system.add_body("mass", mass=1.0, inertia=(0, 0, 0), position=(-1, 0, 0))
system.add_joint(nx.Revolute("hinge", system.ground, mass, at=(0, 0, 0), axis=(0, 0, 1)))

# Dormand and Prince choose their steps; what is asked for between them is interpolated to the order of the method.
precise = nx.DormandPrince(rtol=1e-12, atol=1e-13)
result = nx.simulate(system, 100.0, precise, output_times=[0.0, *PUBLISHED])
place = result.position("mass").values[1:, :2]
for (t, published), found in zip(PUBLISHED.items(), place, strict=True):
    for axis, x, y in zip("xy", found, published, strict=True):
        print(f"{axis}({t:g} s)  {x:.10f}  published  {y:.10f}  error {abs(x - y):.1e}")

# The period, from the times at which the mass comes through the lowest point: events are located to 1e-12 s.
system.add_event(nx.Event("lowest", joint="hinge", value=np.pi / 2, direction="rising", tolerance=1e-12))
times = [event["time"] for event in nx.simulate(system, 10.0, precise).events]
found = float(np.diff(times)[0])
print(f"period  {found:.10f}  published  {PERIOD:.10f}  error {abs(found - PERIOD):.1e}")
