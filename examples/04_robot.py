"""A manipulator from its URDF: gravity compensation by inverse dynamics holds it, without it falls.

The wheel `example-robot-data` carries the file:  pip install example-robot-data

    python examples/04_robot.py
"""

import importlib.metadata

import numpy as np

import nexdyn as nx

files = importlib.metadata.files("example-robot-data") or []
path = next(str(file.locate()) for file in files if file.name == "panda.urdf")

robot = nx.load(path)  # a System like any other; base="free" would let the base float
tree = nx.Tree(robot)
print(f"{robot.name}: {len(robot.bodies)} bodies, {tree.nv} freedoms, {tree.mass:.2f} kg")
print("coordinates:", ", ".join(tree.joint_names))

# an arm bent forward
q0 = dict(zip(tree.joint_names, (0.0, 0.3, 0.0, -1.8, 0.0, 2.1, 0.8), strict=False))

# The torques that hold it: recursive Newton-Euler at rest. tree.gravity(q) is the same.
sim = nx.Simulation(robot, nx.RungeKutta4(dt=1e-3), q0=q0)
start = sim.q
at_rest = np.zeros(tree.nv)
holding = tree.rnea(start, at_rest, at_rest)
for name, torque in zip(tree.joint_names, holding, strict=True):
    print(f"  {name:<22}{torque:>10.4f}")

while sim.t < 1.0:
    sim.step(0.01, u=tree.rnea(sim.q, at_rest, at_rest))
print(f"held:  largest move of a joint after 1 s {abs(sim.q - start).max():.2e} rad")

free = nx.Simulation(robot, nx.RungeKutta4(dt=1e-3), q0=q0)
result = free.run(1.0)
print(f"let go: largest move of a joint after 1 s {abs(free.q - start).max():.2f} rad")
hand = robot.joints[tree.joint_names[6]].child.name
fall = result.position(hand).sel(axis="z")
print(f"        {hand} falls from {float(fall[0]):.3f} m to {float(fall.min()):.3f} m")
# Joint limits are data until a nx.JointStop is added: the arm swings through what would stop it.
