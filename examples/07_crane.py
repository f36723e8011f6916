"""Statics and robotics of one mechanism: where a crane's load rests, how to reach a place, what its motors must do.

A boom of two links on springs carries a load on a swivel. It sags; inverse kinematics finds joint angles that bring the load
to a place; inverse dynamics the torques that move it there in two seconds.

    python examples/07_crane.py
"""

import numpy as np

import nexdyn as nx


def crane(springs: bool) -> nx.System:
    system = nx.System("crane", gravity=(0, 0, -9.81))
    boom = system.add_body("boom", mass=80.0, inertia=(5.0, 60.0, 60.0), position=(1.5, 0, 0))
    jib = system.add_body("jib", mass=30.0, inertia=(2.0, 12.0, 12.0), position=(4.0, 0, 0))
    load = system.add_body("load", mass=100.0, inertia=(4.0, 4.0, 4.0), position=(5.0, 0, -1.0))
    stiffness = {"stiffness": 1e5} if springs else {}
    limits = {"limits": (-1.5, 1.5)}
    system.add_joint(nx.Revolute("shoulder", system.ground, boom, at=(0, 0, 0), axis=(0, -1, 0), **stiffness, **limits))
    system.add_joint(nx.Revolute("elbow", boom, jib, at=(3, 0, 0), axis=(0, -1, 0), **stiffness, **limits))
    system.add_joint(nx.Revolute("swivel", jib, load, at=(5, 0, 0), axis=(0, -1, 0)))
    return system


rest = nx.equilibrium(crane(springs=True))
print(f"at rest ({rest.stability}) the load hangs {-1.0 - rest.position('load')[2]:.4f} m lower than drawn")
print(
    f"slowest swing {rest.frequencies[0]:.4f} Hz; weight on the shoulder {np.linalg.norm(rest.reaction('shoulder').force):.2f} N"
)

free = crane(springs=False)
there = nx.inverse_kinematics(
    free, {"load": {"position": (3.5, 0, 1.0), "orientation": (1, 0, 0, 0)}}, q0={"elbow": -0.5}
)
print(f"reached: {there.reached}; shoulder {there.joints['shoulder'][0]:.4f}, elbow {there.joints['elbow'][0]:.4f} rad")
far = nx.inverse_kinematics(free, {"load": (9.0, 0, 0)}, q0={"elbow": -0.5})
print(f"nine metres out it misses by {far.gaps['load'].distance:.4f} m")

t = np.linspace(0.0, 2.0, 401)
s = t / 2.0
motion = {name: float(q[0]) * s**3 * (10 - 15 * s + 6 * s**2) for name, q in there.joints.items()}
needed = nx.inverse_dynamics(free, motion, t)
for name in ("shoulder", "elbow"):
    print(
        f"{name}: {abs(needed.effort(name)).max():.1f} N m at most, {needed.effort(name)[-1]:.1f} N m to hold it there"
    )
