"""A gripper arm: how its joints must stand, where it rests, what its motors must do, and how it swings.

python examples/09_statics.py
"""

import math

import numpy as np

import nexdyn as nx

arm = nx.System("arm", gravity=(0, -9.81, 0))
for i, name in enumerate(("upper", "lower")):
    arm.add_body(name, mass=2.0 - i, inertia=(0.01, 0.04, 0.04), position=(0.25 + 0.5 * i, 0, 0))
arm.add_joint(nx.Revolute("shoulder", arm.ground, "upper", at=(0, 0, 0), axis=(0, 0, 1), limits=(-1.5, 1.5)))
arm.add_joint(nx.Revolute("elbow", "upper", "lower", at=(0.5, 0, 0), axis=(0, 0, 1), limits=(0, 2.5)))
arm.add_marker(nx.Marker("hand", "lower", at=(1.0, 0, 0)))

# Inverse kinematics: the elbow's angle is that of the law of cosines.
posture = nx.inverse_kinematics(arm, {"hand": {"position": (0.6, 0.3, 0)}}, q0={"elbow": 1.0})
angles = {name: float(q[0]) for name, q in posture.joints.items()}
print(f"reached: {posture.reached}, shoulder {angles['shoulder']:.6f} rad, elbow {angles['elbow']:.6f} rad")
print(f"law of cosines: elbow {math.acos((0.6**2 + 0.3**2 - 0.5) / 0.5):.6f} rad")

# Inverse dynamics: a second's way there, and what the motors must do at its end, where it stands again.
t = np.linspace(0.0, 1.0, 201)
way = 10 * t**3 - 15 * t**4 + 6 * t**5
needed = nx.inverse_dynamics(arm, {name: q * way for name, q in angles.items()}, t)
a = angles["shoulder"]
weight = 9.81 * (2.0 * 0.25 * math.cos(a) + 0.5 * math.cos(a) + 0.25 * math.cos(a + angles["elbow"]))
print(
    f"torque of the shoulder at the end: {needed.effort('shoulder')[-1]:.4f} N m, of the weights alone {weight:.4f} N m"
)

# Equilibrium: held by motors that are springs and dampers to those angles, it sags.
for name, angle in angles.items():
    arm.add_force(nx.PositionActuator(f"{name} motor", name, kp=200.0, kd=4.0, target=angle))
rest = nx.equilibrium(arm, q0=angles)
sag = posture.position("lower") - rest.position("lower")
print(
    f"rest: {rest.stability}, the lower arm {1e3 * sag[1]:.2f} mm lower; force at the shoulder {rest.reaction('shoulder').force[1]:.4f} N"
)

# Small motions about it, as eigenvalues.
small = nx.linearize(arm, at=rest)
for mode in small.modes:
    if mode.eigenvalue.imag >= 0:
        print(f"mode: {mode.natural_frequency:.4f} Hz, damping ratio {mode.damping_ratio:.4f}")
