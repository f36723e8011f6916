"""A double pendulum: describe it, run it, read the result.

python examples/01_double_pendulum.py
"""

import nexdyn as nx

# A system is plain data with names. Gravity points along -y; z comes out of the page.
system = nx.System("double pendulum", gravity=(0, -9.81, 0))

# Bodies stand where they are drawn, here stretched out along x. Inertia: three principal moments [kg m²].
link1 = system.add_body("link1", mass=1.0, inertia=(1, 1, 1), position=(0.5, 0, 0))
link2 = system.add_body("link2", mass=1.0, inertia=(1, 1, 1), position=(1.5, 0, 0))

# Joints: the parent first, then the child; `at` and `axis` in the world as drawn.
system.add_joint(nx.Revolute("hinge1", system.ground, link1, at=(0, 0, 0), axis=(0, 0, 1)))
system.add_joint(nx.Revolute("hinge2", link1, link2, at=(1, 0, 0), axis=(0, 0, 1)))

# A marker is a named point of a body.
system.add_marker("tip", link2, position=(0.5, 0, 0))

result = nx.simulate(system, t_end=3.0, method=nx.RungeKutta4(dt=1e-3))

tip = result.position("tip")  # an xarray.DataArray (time, axis) in metres
print(tip.isel(time=slice(None, None, 500)))
print(f"lowest point of the tip: {float(tip.sel(axis='y').min()):.4f} m")

angle = result.joint_position("hinge1")
print(f"hinge1 at the end: {float(angle[-1]):.6f} rad")

reaction = result.reaction("hinge1")  # force and moment of the joint on its child
print(f"largest pull in hinge1: {float(reaction.sel(component=['fx', 'fy']).max()):.2f} N")

# Nothing takes energy away, so what changes is the error of the integration.
print(f"energy drift: {result.energy_drift:.1e} of the energy that moved")

# result.save("double-pendulum.nc") writes all of it; nx.open_result("double-pendulum.nc") reads it back
