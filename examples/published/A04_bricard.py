"""A04, Bricard's mechanism: five rods and six hinges that move although counting says they cannot. IFToMM library.

    python examples/published/A04_bricard.py

One row of the hinges depends on the others. `nx.assemble` names it; every formulation moves the mechanism.
"""

import numpy as np

import nexdyn as nx

PUBLISHED = {  # P3 [m]
    0.5: (0.7747178080, -0.9798150477, -0.1999061590),
    1.0: (0.2744813193, -0.8867079387, -0.4623300027),
    2.0: (-0.7781353730, -0.9803526834, -0.1972526706),
    5.0: (0.9999327423, -0.9999999977, -6.72554e-5),
    10.0: (0.9997309873, -0.9999999638, -2.689765e-4),
}

system = nx.System("A04", gravity=(0, -9.81, 0))
P = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], float)
rods = []
for i in range(5):
    along = np.abs(P[i + 1] - P[i]) > 0.5
    inertia = np.where(along, 0.01 / 6, (1 + 0.01) / 12)
    rods.append(system.add_body(f"rod{i}", mass=1.0, inertia=inertia, position=(P[i] + P[i + 1]) / 2))
ends = zip(
    (system.ground, *rods[:4], system.ground), (*rods, rods[4]), strict=True
)  # the last hinge is on the ground, too
x, y, z = np.eye(3)
for i, ((parent, child), axis) in enumerate(zip(ends, (y, z, x, y, z, x), strict=True)):
    system.add_joint(nx.Revolute(f"P{i + 1}", parent, child, at=P[i], axis=axis))
system.add_marker(nx.Marker("P3", rods[1], position=(0, -0.5, 0)))

found = nx.assemble(system).redundancy
print(f"degrees of freedom counted: {found.grubler}, found: {found.dof}")
for row in found.redundant:
    print(f"redundant: {row}, which the {len(row.depends_on)} other rows imply")

result = nx.simulate(system, 10.0, nx.DormandPrince(rtol=1e-10, atol=1e-12), output_times=[0.0, *PUBLISHED])
for (t, published), place in zip(PUBLISHED.items(), result.position("P3").values[1:], strict=True):
    for axis, x, y in zip("xyz", place, published, strict=True):
        print(f"{axis}({t:g} s)  {x:.10f}  published  {y:.10f}  error {abs(x - y):.1e}")

# The error of HHT at 1 s falls four-fold with each halving of the step: order 2.
errors = []
for dt in (4e-3, 2e-3, 1e-3):
    place = nx.simulate(system, 1.0, nx.HHT(dt=dt), output_times=[1.0]).position("P3")[-1].values
    errors.append(abs(place - PUBLISHED[1.0]).max())
    print(f"dt = {dt:g} s: error {errors[-1]:.1e} m")
print(f"the last two errors have the ratio {errors[-2] / errors[-1]:.2f}")
