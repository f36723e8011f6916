"""Forces of your own, compiled by Numba or plain Python: a ball in flight with drag that grows with the square of speed.

python examples/05_user_force.py
"""

import math
import time

import numba
import numpy as np

import nexdyn as nx

AREA, DRAG, AIR = math.pi * 0.036**2, 0.4, 1.2  # of a tennis ball [m²], [-], of air [kg/m³]


def drag(t, A, B, out):
    """Fill `out` with torque [N m] and force [N] on the ball, in world axes, at its origin.

    A is the ball, B the ground: position (3), rotation matrix row by row (9), angular velocity (3), velocity (3).
    """
    v = A[15:18]
    speed = math.sqrt(v[0] ** 2 + v[1] ** 2 + v[2] ** 2)
    for i in range(3):
        out[3 + i] = -0.5 * AIR * DRAG * AREA * speed * v[i]


def flight(function) -> nx.Result:
    """Two seconds after a stroke of 40 m/s."""
    system = nx.System("tennis", gravity=(0, 0, -9.81))
    ball = system.add_body("ball", mass=0.057, inertia=(3e-5, 3e-5, 3e-5), position=(0, 0, 1))
    if function is not None:
        system.add_force(nx.UserForce("drag", ball, function=function))
    stroke = {"ball": (0, 0, 0, 40 * math.cos(0.3), 0, 40 * math.sin(0.3))}  # ω, v of the floating body
    return nx.simulate(system, t_end=2.0, method=nx.RungeKutta4(dt=1e-3), v0=stroke)


compiled = numba.njit(drag)  # usually written as a decorator: @numba.njit

for name, function in (("without drag", None), ("Numba", compiled), ("Python", drag)):
    flight(function)  # the first flight compiles; plain Python works just as well, slower, and says so once
    started = time.perf_counter()
    result = flight(function)
    took = time.perf_counter() - started
    x, _, z = result.position("ball")[-1].values
    print(f"{name:<14} x = {x:8.4f} m  z = {z:8.4f} m  in {1e3 * took:7.1f} ms")

same = np.array_equal(flight(compiled).recording.q, flight(drag).recording.q)
print("Numba and Python agree to the last bit:", same)

# A force that raises, or returns what is no number, stops the run with its name and the time; the error's `result` holds
# what was reached until then.
