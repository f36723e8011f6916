"""A thin coin, tilted by a degree and turning about the vertical, rolls on a plane without slipping. Extended precision.

    python examples/published/rolling_coin.py

That it does not slip are two rows of velocities which no position fulfils: nonholonomic. A free joint and the contact hold it.
"""

from math import cos, pi, radians, sin

import nexdyn as nx

PUBLISHED = {
    "x [m]": 2.0049470e-3,
    "y [m]": 2.5969231e-3,
    "lean [°]": 12.55510700,
    "normal force [N]": 9.83551981,
}  # after 0.5 s
r, tilt, spin = 0.01, radians(1), 10 * pi

system = nx.System("rolling coin", gravity=(0, 0, -9.81))
coin = system.add_body(
    "coin", mass=1.0, inertia=(5e-5, 2.5e-5, 2.5e-5), position=(r * sin(tilt), 0, r * cos(tilt)),
    orientation=(cos(tilt / 2), 0, sin(tilt / 2), 0),
)  # fmt: skip
# The axle is x of the coin. Its velocity (ω, v) in its own axes: about the vertical through the point on which it stands.
start = (-spin * sin(tilt), 0, spin * cos(tilt), 0, spin * r * sin(tilt), 0)
system.add_joint(nx.Free("ride", system.ground, coin, v0=start))
system.add_joint(nx.RollingDisk("contact", system.ground, coin, radius=r, axis_b=(-1, 0, 0)))
print("degrees of freedom:", nx.assemble(system).redundancy.dof)  # 6 less one row of positions and two of velocities

for method in (nx.DormandPrince(rtol=1e-10, atol=1e-12), nx.HHT(dt=2e-4)):
    of = nx.simulate(system, 0.5, method).rolling("contact").isel(time=-1)
    found = (*of.point.values[:2], float(of.lean) * 180 / pi, float(of.normal))
    print(f"\n{method.name}")
    for (name, y), x in zip(PUBLISHED.items(), found, strict=True):
        print(f"{name}  {x:.10f}  published  {y:.10f}  error {abs(x - y):.1e}")
