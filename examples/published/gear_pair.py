"""Two equal gears of involute teeth, one driven and one braked: the ratio, its ripple, and what the teeth transmit.

    python examples/published/gear_pair.py

Every normal of an involute is tangent to its base circle, of radius r_b: whichever teeth bear, the sum f of their normal forces turns the
shafts by f r_b. One tooth after the other does the same, so that the ripple has the lines z ω/2π and its multiples alone.
"""

from math import cos, pi, radians, sin, sqrt, tan

import numpy as np

import nexdyn as nx

CLOSED_FORM = {
    "ratio": -1.0,
    "first line by z ω/2π": 1.0,
    "between the lines": 0.0,
    "f r_b by the brake": 1.0,
    "f r_b by the motor": 1.0,
}
z, module, pressure, play = 20, 2e-3, radians(20), 0.01  # play: by how much of its thickness a tooth is thinner
pitch = 0.5 * z * module
base, tip, root = pitch * cos(pressure), pitch + module, pitch - 1.25 * module
step, rate, torque = 2 * pi / z, 20.0, 1.0  # rate of the driving gear [rad/s], torque that brakes the other [N m]


def tooth(middle: float, width: float) -> nx.Hull:
    """A tooth about the direction `middle`. It is convex; the flank on the side of larger angles bears, and has more facets."""
    half = 0.5 * pi / z * (1 - play) + tan(pressure) - pressure
    outline = [(root, -half), (root, half)]
    for side, points in ((1, 24), (-1, 4)):
        u = np.linspace(0, sqrt((tip / base) ** 2 - 1), points)  # by which a string is unrolled from the base circle
        outline += zip(base * np.sqrt(1 + u * u), side * (half - u + np.arctan(u)), strict=True)
    corners = [(r * cos(middle + a), r * sin(middle + a)) for r, a in outline]
    return nx.Hull(tuple((float(x), float(y), h) for x, y in corners for h in (-0.5 * width, 0.5 * width)))


system = nx.System("gears", gravity=(0, 0, 0))
body, axis, back = {"mass": 0.1, "inertia": (1e-4, 1e-4, 1e-4)}, (0, 0, 1), 0.5 * play * step
# The teeth that come to bear; the driven gear is turned back until they touch.
teeth = [tooth(-i * step, 0.01) for i in range(4)]
driving = system.add_body("driving", **body, collision=teeth)
system.add_joint(nx.Revolute("input", system.ground, driving, axis=axis))
system.add_driver(nx.Driver("motor", "input", f"={rate}*t"))
teeth = [tooth(pi + (i + 0.5) * step, 0.012) for i in range(-1, 3)]
at, turned = (2 * pitch, 0, 0), (cos(0.5 * back), 0, 0, sin(0.5 * back))
driven = system.add_body("driven", **body, position=at, orientation=turned, collision=teeth)
system.add_joint(nx.Revolute("output", system.ground, driven, at=at, axis=axis, v0=-rate))
system.add_force(nx.JointForce("brake", "output", torque))
system.add_contact(nx.Contact("teeth", driving, driven, foundation_a=1e13, foundation_b=1e13, damping=10.0))

# Half a tooth while the start dies down, then two teeth.
period, samples = step / rate, 32
times = period / samples * np.arange(samples // 2, 5 * samples // 2 + 1)
result = nx.simulate(system, times[-1], nx.DormandPrince(rtol=1e-6, atol=1e-9), output_times=times)

output = result.joint_position("output").values.ravel()
lag = output + rate * times
lines = np.abs(np.fft.rfft(lag[:-1]))[1:]  # lines of half the frequency of the teeth and its multiples
force = base * result.contacts("teeth").normal.values.sum(axis=1)[:-1]
motor = result.effort("motor").values[:-1]
found = (
    (output[-1] - output[0]) / (2 * step), (int(np.argmax(lines > 0.1 * lines.max())) + 1) / 2,
    np.linalg.norm(np.delete(lines, np.s_[1::2])) / lines[1], force.mean() / torque, 1 + np.abs(force - motor).max() / torque,
)  # fmt: skip
for (name, y), x in zip(CLOSED_FORM.items(), found, strict=True):
    print(f"{name}  {x:.10f}  closed form  {y:.10f}  error {abs(x - y):.1e}")
print(f"ripple: the driven gear runs unevenly by {np.ptp(lag):.1e} rad, f r_b by {np.ptp(force):.1e} N m")
