"""Whipple's bicycle: at what speeds does it ride upright by itself? Meijaard, Papadopoulos, Ruina & Schwab 2007.

    python examples/published/bicycle.py

Two wheels that roll, a frame with its rider, a fork. The steady ride is linearized, its eigenvalues followed over the speed, and
the bicycle ridden, hardly leaning, beside the published linear equations  M q̈ + v C₁ q̇ + (g K₀ + v² K₂) q = 0, q = (lean, steer).
"""

import numpy as np
from scipy.linalg import expm

import nexdyn as nx

PUBLISHED = {
    "weave, Re [1/s]": -0.77534188219585, "weave, Im [1/s]": 4.46486771378823, "capsize [1/s]": -0.32286642900409,
    "caster [1/s]": -14.07838969279822, "weave speed [m/s]": 4.29238253634111, "capsize speed [m/s]": 6.02426201538837,
}  # fmt: skip
M = np.array([[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]])
C1 = np.array([[0.0, 33.86641391492494], [-0.85035641456978, 1.68540397397560]])
K0 = np.array([[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]])
K2 = np.array([[0.0, 76.59734589573222], [0.0, 2.65431523794604]])

system = nx.System("bicycle", gravity=(0, 0, -9.81))  # x forward, z up
system.parameter("speed", 5.0)  # [m/s]
system.parameter("lean_rate", 0.0)  # rate at which it leans to the right at the start [rad/s]
rear = system.add_body("rear", mass=2.0, inertia=(0.0603, 0.12, 0.0603), position=(0, 0, 0.3))
frame = system.add_body("frame", mass=85.0, inertia=(9.2, 11, 2.8, 0, -2.4, 0), position=(0.3, 0, 0.9))
fork = system.add_body("fork", mass=4.0, inertia=(0.05892, 0.06, 0.00708, 0, 0.00756, 0), position=(0.9, 0, 0.7))
front = system.add_body("front", mass=3.0, inertia=(0.1405, 0.28, 0.1405), position=(1.02, 0, 0.35))
ground, y = system.ground, (0, 1, 0)
steering = (-np.sin(np.pi / 10), 0, np.cos(np.pi / 10))
system.add_joint(nx.Free("ride", ground, frame, v0=("=lean_rate", 0, 0, "=speed", "=-0.9*lean_rate", 0)))
system.add_joint(nx.Revolute("rear-hub", frame, rear, at=(0, 0, 0.3), axis=y, v0="=speed/0.3"))
system.add_joint(nx.Revolute("steer", frame, fork, at=(1.1, 0, 0), axis=steering, v0=0))
system.add_joint(nx.Revolute("front-hub", fork, front, at=(1.02, 0, 0.35), axis=y, v0="=speed/0.35"))
system.add_joint(nx.RollingDisk("rear-tyre", ground, rear, radius=0.3, axis_b=y))
system.add_joint(nx.RollingDisk("front-tyre", ground, front, radius=0.35, axis_b=y))

eigenvalues = nx.linearize(system).eigenvalues
weave = eigenvalues[eigenvalues.imag.argmax()]
capsize, caster = (eigenvalues[abs(eigenvalues - near).argmin()].real for near in (-0.3, -14.0))
limits = [limit.value for limit in nx.stability(system, "speed", [2.0, 4.0, 5.0, 7.0]).limits]
for (name, y), x in zip(PUBLISHED.items(), (weave.real, weave.imag, capsize, caster, *limits), strict=True):
    print(f"{name}  {x:.12f}  published  {y:.12f}  error {abs(x - y):.1e}")

# The ride itself. The linear motion errs by the square of the lean, which is small.
rate, times = 1e-3, (0.5, 1.0, 2.0)
leaning = system.with_parameters({"lean_rate": rate})
ride = nx.simulate(leaning, 2.0, nx.DormandPrince(rtol=1e-10, atol=1e-12), output_times=times)
lean, steer = np.arcsin(ride.rotation("frame").values[:, 2, 1]), -ride.joint_position("steer").values
A = np.block(
    [[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(M, 9.81 * K0 + 25.0 * K2), -np.linalg.solve(M, 5.0 * C1)]]
)
for t, *found in zip(times, lean, steer, strict=True):
    for name, x, y in zip(("lean", "steer"), found, expm(A * t) @ (0, 0, rate, 0), strict=False):
        print(f"{name}({t:g} s) [rad]  {x:.10f}  published  {y:.10f}  error {abs(x - y):.1e}")
