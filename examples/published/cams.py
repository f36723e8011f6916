"""Disc cams with a round follower and with a flat one: what they lift, and at which speed the flat one leaves its cam.

    python examples/published/cams.py

A disc of radius R that turns about a point e off its middle lifts a roller of radius r to e cos θ + √((R + r)² − e² sin² θ), a flat face to
R + e cos θ. Under its weight alone the face leaves the cam where e ω² cos θ = −g, from the speed √(g/e) on. What touches gives by F/k.
"""

from math import acos, cos, pi, sin, sqrt

import nexdyn as nx

R, e, r, mass, stiff, g = 0.03, 0.006, 0.01, 0.1, 1e7, 9.81


def add_cam(system: nx.System, name: str, rate: float, start: float, face, spot: tuple[float, float], y=0.0) -> None:
    """A disc whose middle is at θ = start + rate t from the vertical, and a follower that starts at a height with a speed."""
    middle = (e * sin(start), y, e * cos(start))
    cam = system.add_body(f"{name} cam", mass=1.0, inertia=(1e-3, 1e-3, 1e-3), position=middle, shapes=[nx.Sphere(R)])
    system.add_joint(nx.Revolute(f"{name} turns", system.ground, cam, at=(0, y, 0), axis=(0, 1, 0)))
    system.add_driver(nx.Driver(f"{name} drive", f"{name} turns", f"={rate}*t"))
    inertia = (1e-4, 1e-4, 1e-4)
    follower = system.add_body(f"{name} follower", mass=mass, inertia=inertia, position=(0, y, spot[0]), shapes=[face])
    system.add_joint(nx.Prismatic(f"{name} slides", system.ground, follower, axis=(0, 0, 1), v0=spot[1]))
    system.add_contact(nx.Contact(f"{name} touch", cam, follower, stiffness=stiff, exponent=1.0, damping=50.0))


def show(name: str, x: float, y: float) -> None:
    print(f"{name}  {x:.10f}  closed form  {y:.10f}  error {abs(x - y):.1e}")


# A roller that a force of 20 N presses on a cam at 50 rad/s; it lies, so that no weight acts.
fast, push, both = 50.0, 20.0, R + r


def rolled(t: float) -> tuple[float, float]:
    """Height and speed of the roller."""
    c, s = cos(fast * t), sin(fast * t)
    root = sqrt(both**2 - (e * s) ** 2)
    acceleration = -(fast**2) * (e * c + e**2 * (c * c - s * s) / root + e**4 * (s * c) ** 2 / root**3)
    gives = (push + mass * acceleration) * (both / root) / stiff
    return e * c + root - gives * both / root, -fast * (e * s + e**2 * s * c / root)


roller = nx.System("roller", gravity=(0, -g, 0))
add_cam(roller, "round", fast, 0.0, nx.Sphere(r), rolled(0.0))
roller.add_force(nx.JointForce("push", "round slides", -push))
times = (0.02, 0.05, 0.1)
result = nx.simulate(roller, times[-1], nx.HHT(rtol=1e-7), output_times=times)
for t, x in zip(times, result.position("round follower").values[:, 2], strict=True):
    show(f"roller({t:g} s) [mm]", 1e3 * x, 1e3 * rolled(t)[0])

# Flat faces on two cams, 5 % slower than √(g/e) and 5 % quicker.
slow, quick = 0.95 * sqrt(g / e), 1.05 * sqrt(g / e)


def rested(rate: float, t: float) -> tuple[float, float]:
    """Height and speed of a face that stays on its cam, which was lowest at the start."""
    c, s = cos(pi + rate * t), sin(pi + rate * t)
    return R + e * c - mass * (g - e * rate**2 * c) / stiff, -rate * e * s * (1 + mass * rate**2 / stiff)


leaves = (pi - acos(g / e / quick**2)) / quick
height, speed = rested(quick, leaves)
flat, face = nx.System("flat"), nx.Box((0.1, 0.05, 0.02), position=(0, 0, 0.01))
for name, rate, y in (("slow", slow, -0.1), ("quick", quick, 0.1)):
    add_cam(flat, name, rate, pi, face, rested(rate, 0.0), y)
times = (0.05, 0.085)
result = nx.simulate(flat, times[-1], nx.HHT(rtol=1e-7), output_times=times)
for name, rate in (("slow", slow), ("quick", quick)):
    for t, x in zip(times, result.position(f"{name} follower").values[:, 2], strict=True):
        flies = rate == quick and t > leaves
        y = height + speed * (t - leaves) - 0.5 * g * (t - leaves) ** 2 if flies else rested(rate, t)[0]
        show(f"{name} face({t:g} s) [mm]", 1e3 * x, 1e3 * y)

# When the quick face leaves its cam, and that one leaves it from the speed √(g/e) on, not below.
flat.add_event(nx.Event("leaves", contact="quick touch", direction="rising", stop=True))
show("the quick face leaves its cam at [s]", nx.simulate(flat, 0.2, nx.HHT(rtol=1e-7)).events[-1]["time"], leaves)
for part in (0.999, 1.001):
    cam = nx.System(f"cam at {part} of the speed of lift-off")
    add_cam(cam, "one", part * sqrt(g / e), pi, face, rested(part * sqrt(g / e), 0.0))
    cam.add_event(nx.Event("leaves", contact="one touch", direction="rising", stop=True))
    events = nx.simulate(cam, 0.3, nx.HHT(rtol=1e-7)).events
    print(f"at {part} √(g/e) the face {'leaves its cam' if events else 'stays on its cam'}")
