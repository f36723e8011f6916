"""The heavy top of Géradin & Cardona: 15 kg that spin at 150 rad/s about a fixed point, 1 m away. Brüls & Cardona 2010.

    python examples/published/heavy_top.py

It stands out sideways and does not fall: it goes round. Orientations are unit quaternions, without a pose that is singular.
"""

import numpy as np

import nexdyn as nx

PUBLISHED = {  # the centre of mass [m]
    0.1: (0.4212966589, 0.8945719743, -0.1491647006),
    0.2: (0.6055505614, 0.5989576818, -0.5239830274),
    1.0: (0.1733439641, 0.6400885921, -0.7484907911),
}

system = nx.System("heavy top", gravity=(0, 0, -9.81))
top = system.add_body("top", mass=15.0, inertia=(0.234375, 0.46875, 0.234375), position=(0, 1, 0))
# A joint's v0 is the velocity of the child against the parent, here ω in the axes of the body.
system.add_joint(nx.Spherical("point", system.ground, top, at=(0, 0, 0), v0=(0, 150, -4.61538)))

result = nx.simulate(system, 1.0, nx.DormandPrince(rtol=1e-12, atol=1e-13), output_times=[0.0, *PUBLISHED])
for (t, published), place in zip(PUBLISHED.items(), result.position("top").values[1:], strict=True):
    for axis, x, y in zip("xyz", place, published, strict=True):
        print(f"{axis}({t:g} s)  {x:.10f}  published  {y:.10f}  error {abs(x - y):.1e}")
energy = float(result.energy()["total"][0])
print(f"energy  {energy:.9f}  published  5435.696790866  error {abs(energy - 5435.696790866):.1e}")
off = np.abs(np.linalg.norm(result.orientation("top").values, axis=1) - 1.0).max()
print(f"length of the quaternion off 1 by {off:.0e}")

# Steady precession: spun about its axis and turned about the vertical at Ω = m g l / (I₃ ω_s), it stays level.
rate = 15.0 * 9.81 / (0.46875 * 150.0)
level = nx.simulate(system, 1.0, nx.DormandPrince(rtol=1e-10), v0={"point": (0, 150, rate)})
turned = np.unwrap(np.arctan2(level.position("top").values[:, 1], level.position("top").values[:, 0]))
mean = abs(turned[-1] - turned[0]) / 1.0
print(
    f"precession  {mean:.5f}  published  {rate:.5f}  and the top sinks by {abs(level.position('top').values[:, 2]).max():.0e} m"
)
