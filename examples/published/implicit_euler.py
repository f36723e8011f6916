"""A double pendulum by implicit Euler with augmented-Lagrangian hinges: the published numbers are those of the method.

    python examples/published/implicit_euler.py

Each step is a minimum: of inertia, gravity and penalties on the hinges, whose multipliers are updated ten times. The method takes
energy out at this step; halving the step halves what it takes.
"""

import nexdyn as nx

PUBLISHED = {  # after 3 s, in the plane
    "link1": ((0.40104968, -0.29859530), (-0.14322074, -0.19333218), (-2.3166936, -2.9761086)),
    "link2": ((0.93728972, -1.07856733), (-2.18170893, -0.95965349), (-6.3504886, 1.7645872)),
}
FIRST = {"link1": (-9.675e-4, -3.1104871), "link2": (-1.98655e-3, -6.9387792)}  # accelerations of the first step

system = nx.System("double pendulum by implicit Euler", gravity=(0, -9.81, 0))
link1 = system.add_body("link1", mass=1.0, inertia=(1, 1, 1), position=(0.5, 0, 0))
link2 = system.add_body("link2", mass=1.0, inertia=(1, 1, 1), position=(1.5, 0, 0))
# where a joint sits, in the frames of both bodies
z = {"axis_a": (0, 0, 1), "axis_b": (0, 0, 1)}
system.add_joint(nx.Revolute("joint1", system.ground, link1, anchor_a=(0, 0, 0), anchor_b=(-0.5, 0, 0), **z))
system.add_joint(nx.Revolute("joint2", link1, link2, anchor_a=(0.5, 0, 0), anchor_b=(-0.5, 0, 0), **z))

result = nx.simulate(system, 3.0, nx.ImplicitEuler(0.01, mu=1000.0, updates=10))
for link in ("link1", "link2"):
    first = result.acceleration(link)[1].values
    for axis, x, y in zip("xy", first, FIRST[link], strict=False):
        print(f"first step, {link} a{axis}  {x:.7f}  published  {y:.7f}  error {abs(x - y):.1e}")
for link, published in PUBLISHED.items():
    found = (result.position(link), result.velocity(link), result.acceleration(link))
    for letter, of, values in zip("pva", found, published, strict=True):
        for axis, x, y in zip("xy", of[-1].values, values, strict=False):
            print(f"{link} {letter}{axis}(3 s)  {x:.8f}  published  {y:.8f}  error {abs(x - y):.1e}")

# Nothing damps the mechanism: what energy is lost, the method took. It is of first order.
for dt in (0.01, 0.005, 0.0025):
    total = nx.simulate(system, 3.0, nx.ImplicitEuler(dt)).energy()["total"]
    print(f"dt = {dt:g} s: {float(total[0] - total[-1]):.4f} J lost")
