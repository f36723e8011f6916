"""A controller in the loop: a crane moves a hanging load from one place to another and stops its swing.

The controller runs a hundred times a second, reads the state, and sets the force on the cart until it runs again. Its gains
are those of a linear-quadratic regulator for the motion about the goal, M Δq̈ + K Δq = B u.

    python examples/03_controller.py
"""

import numpy as np
from scipy.linalg import solve_continuous_are

import nexdyn as nx

system = nx.System("crane", gravity=(0, 0, -9.81))
cart = system.add_body("cart", mass=10.0)
load = system.add_body("load", mass=5.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, -2))
system.add_joint(nx.Prismatic("rail", system.ground, cart, at=(0, 0, 0), axis=(1, 0, 0)))
system.add_joint(nx.Revolute("rope", cart, load, at=(0, 0, 0), axis=(0, 1, 0)))

tree = nx.Tree(system)
assert tree.joint_names == ["rail", "rope"]  # the order of q, v and u
goal = np.array([3.0, 0.0])  # [m, rad]

# M, and K = ∂G/∂q by differences of the gravity term
M = tree.crba(goal)
h = 1e-6
K = np.stack([(tree.gravity(goal + h * e) - tree.gravity(goal - h * e)) / (2 * h) for e in np.eye(2)], axis=1)
A = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(M, K), np.zeros((2, 2))]])
B = np.concatenate([np.zeros(2), np.linalg.solve(M, [1.0, 0.0])])[:, None]  # a force on the cart only
P = solve_continuous_are(A, B, np.diag([100.0, 100.0, 10.0, 100.0]), np.array([[0.01]]))
gain = (B.T @ P / 0.01)[0]

sim = nx.Simulation(system, nx.RungeKutta4(dt=1e-3))
while sim.t < 12.0:
    force = -gain @ np.concatenate([sim.q - goal, sim.v])
    sim.step(0.01, u={"rail": np.clip(force, -100.0, 100.0)})  # ten steps of the method with this force

result = sim.result()
place, angle = result.joint_position("rail"), result.joint_position("rope")
print(f"the cart stands at {float(place[-1]):.4f} m of {goal[0]} m")
swing = np.degrees(angle)
print(f"the load swung by {float(abs(swing).max()):.1f}° at most, and hangs at {float(swing[-1]):.4f}°")
far = place.time[abs(place - goal[0]) > 0.02 * goal[0]]
print(f"within 2 % of the way after {float(far[-1]):.2f} s")
