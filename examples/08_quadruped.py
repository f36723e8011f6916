"""A quadruped stands on its feet: contacts with the ground, position actuators in its joints.

The wheel `example-robot-data` carries the file:  pip install example-robot-data

    python examples/08_quadruped.py
"""

import importlib.metadata

import numpy as np

import nexdyn as nx

files = importlib.metadata.files("example-robot-data") or []
path = next(str(file.locate()) for file in files if file.name == "a1.urdf")

# The feet are the spheres that the file has there for collisions; a dry floor.
floor = {"stiffness": 2e5, "damping": 2.0, "friction": 0.8, "links": "*_foot"}
robot = nx.load(path, base="free", contacts=floor)
tree = nx.Tree(robot)

# Motors that hold the legs bent, within what the URDF says they can give.
pose = {"hip": 0.0, "thigh": 0.8, "calf": -1.6}
for name, joint in robot.joints.items():
    kind = name.split("_")[1]  # as in FL_thigh_joint
    if joint.nv == 1 and kind in pose:
        limit = float(joint.resolved(robot.values).effort_limit[0])
        robot.add_force(
            nx.PositionActuator(f"{name} motor", name, kp=200.0, kd=5.0, target=pose[kind], effort_limit=limit)
        )

base = tree.joint_names[0]  # the free joint of the trunk
height = 0.4 * np.cos(0.8) + 0.02
q0 = {name: pose[name.split("_")[1]] for name in tree.joint_names if name != base}
q0[base] = (1, 0, 0, 0, 0, 0, height)

result = nx.simulate(robot, t_end=60.0, method=nx.HHT(rtol=1e-5), q0=q0, output_times=[0.0, 10.0, 60.0])

weight = tree.mass * 9.81
feet = result.contacts().isel(time=-1)
print(f"{robot.name}: {tree.mass:.2f} kg, {tree.nv} freedoms")
for name in feet.contact.values:
    normal, along = (float(feet[which].sel(contact=name)) for which in ("normal", "tangential"))
    print(f"  {name}: {normal:7.3f} N, holds {along:6.3f} N along the floor")
print(f"sum of the feet: {float(feet.force.sel(axis='z').sum()):.6f} N, weight: {weight:.6f} N")
trunk = result.position(tree.carried_body(base).name)
print(f"the trunk moves from 10 s to 60 s by {float(abs(trunk[2] - trunk[1]).max()):.1e} m")
largest = max(float(abs(result.effort(name)[-1])) for name in result.effort().actuator.values)
print(f"largest motor torque: {largest:.2f} N m")
