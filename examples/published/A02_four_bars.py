"""A02, two four-bars in a row, through the pose where all rods lie flat and one freedom becomes three. IFToMM library.

    python examples/published/A02_four_bars.py

In that pose the rows of the loops depend on each other. HHT-α solves for positions, and passes, with a warning; a partition of the
coordinates into independent and dependent ones does not exist there, and the run says so instead of going on with rubbish.
"""

import nexdyn as nx

PUBLISHED = {  # x, y [m] and velocities [m/s] of B0, the tip of the first rod
    1.0: (-0.1950203019, -0.9807992057, -6.6766780369, 1.3275783252),
    5.0: (-0.8113104610, -0.5846155454, -3.5691173972, 4.9531051713),
    10.0: (0.3284581115, 0.9445185382, 1.4230514702, -0.4948688455),
}
N = 2

system = nx.System("A02", gravity=(0, -9.81, 0))
rod = {"mass": 1.0, "inertia": (1 / 12, 1 / 12, 1 / 12)}
z = (0, 0, 1)
standing = []
for i in range(N + 1):
    standing.append(system.add_body(f"standing{i}", **rod, position=(i, 0.5, 0)))
    system.add_joint(nx.Revolute(f"ground{i}", system.ground, standing[i], at=(i, 0, 0), axis=z, v0=-1.0))
for i in range(N):
    lying = system.add_body(f"lying{i}", **rod, position=(i + 0.5, 1, 0))
    system.add_joint(nx.Revolute(f"left{i}", standing[i], lying, at=(i, 1, 0), axis=z))
    system.add_joint(nx.Revolute(f"right{i}", lying, standing[i + 1], at=(i + 1, 1, 0), axis=z))
system.add_marker(nx.Marker("B0", standing[0], position=(0, 0.5, 0)))

for pose, turn in (("as drawn", 0.0), ("lying flat", -1.5707963267948966)):
    q0 = {f"ground{i}": turn for i in range(N + 1)} | {f"left{i}": -turn for i in range(N)}
    print(f"{pose}: {nx.assemble(system, q0=q0).redundancy.dof} degrees of freedom")

result = nx.simulate(system, 10.0, nx.HHT(dt=1e-3), output_times=[0.0, *PUBLISHED])
place, velocity = result.position("B0").values[1:], result.velocity("B0").values[1:]
for (t, published), p, v in zip(PUBLISHED.items(), place, velocity, strict=True):
    for name, x, y in zip(("x", "y", "vx", "vy"), (*p[:2], *v[:2]), published, strict=True):
        print(f"{name}({t:g} s)  {x:.10f}  published  {y:.10f}  error {abs(x - y):.1e}")
energy = result.energy()["total"]
print(
    f"energy at the start  {float(energy[0]):.3f}  published  35.835  lost in 10 s: {float(energy[0] - energy[-1]):.1e} J"
)

try:
    nx.simulate(system, 10.0, nx.Partitioning(rtol=1e-10))
except nx.SolveError as error:
    print(f"partitioned: {error}")
