"""A humanoid stands for a minute, held by actuators in its joints, from where `nx.equilibrium` finds it: nothing moves, and statics holds.

    python examples/published/humanoid.py

The feet bear the weight, Σ f = m g, below the centre of mass, Σ f x = m g X. The torque of the actuator in a knee is the moment of all that
is below it: of what presses on the foot, and of the weights of shin, ankle and foot.
"""

from math import cos, dist, sin

import numpy as np

import nexdyn as nx

length, lean, sole, kp, g = 0.4, 0.25, 0.08, 3000.0, 9.81  # of thigh and shin, how they lean, height of the ankle
pelvis = sole + 2 * length * cos(lean)
chest = pelvis + 0.3
x, y, z = (1, 0, 0), (0, 1, 0), (0, 0, 1)
system = nx.System("humanoid")


def segment(name: str, mass: float, a: tuple, b: tuple) -> None:
    """A rod from a to b."""
    across, middle = mass * dist(a, b) ** 2 / 12, tuple(0.5 * np.add(a, b))
    system.add_body(name, mass=mass, inertia=(across, across, 0.06 * across), position=middle)


def motor(name: str, parent: str, child: str, at: tuple, axis: tuple, kp: float = kp) -> None:
    """A revolute joint that an actuator holds as it is described."""
    system.add_joint(nx.Revolute(name, parent, child, at=at, axis=axis))
    system.add_force(nx.PositionActuator(f"{name} motor", name, kp=kp, kd=0.02 * kp, target=0.0))


system.add_body("torso", mass=25.0, position=(0, 0, chest), shapes=[nx.Box((0.2, 0.3, 0.5))], collision=[])
system.add_joint(nx.Free("base", "ground", "torso"))
for side, sign in (("left", 1), ("right", -1)):
    hip, ankle = (0, 0.1 * sign, pelvis), (0, 0.1 * sign, sole)
    knee = (length * sin(lean), 0.1 * sign, 0.5 * (pelvis + sole))
    for name in ("yaw", "roll"):
        system.add_body(f"{side} hip {name}", mass=1.0, inertia=(3e-3, 3e-3, 3e-3), position=hip)
    segment(f"{side} thigh", 5.0, hip, knee)
    segment(f"{side} shin", 3.0, knee, ankle)
    system.add_body(f"{side} ankle", mass=0.5, inertia=(1e-3, 1e-3, 1e-3), position=ankle)
    foot = nx.Box((0.22, 0.1, 0.04))
    system.add_body(f"{side} foot", mass=1.0, position=(0.03, 0.1 * sign, 0.02), shapes=[foot])
    parent = "torso"
    for name, body, at, axis in (
        ("yaws", "hip yaw", hip, z), ("rolls", "hip roll", hip, x), ("swings", "thigh", hip, y),
        ("knee", "shin", knee, y), ("ankle", "ankle", ankle, y), ("ankle rolls", "foot", ankle, x),
    ):  # fmt: skip
        motor(f"{side} {name}", parent, f"{side} {body}", at, axis)
        parent = f"{side} {body}"
    shoulder, elbow = (0, 0.2 * sign, chest + 0.2), (0, 0.2 * sign, chest - 0.1)
    segment(f"{side} upper arm", 2.0, shoulder, elbow)
    place = (0.125, 0.2 * sign, chest - 0.1)
    system.add_body(f"{side} forearm", mass=1.0, inertia=(1e-3, 5e-3, 5e-3), position=place)
    motor(f"{side} shoulder", "torso", f"{side} upper arm", shoulder, y, 0.1 * kp)
    motor(f"{side} elbow", f"{side} upper arm", f"{side} forearm", elbow, y, 0.1 * kp)
# feet touch at their four corners
system.add_contact(nx.Contact("feet", "* foot", stiffness=1e6, exponent=1.0, damping=20.0, friction=0.8))
system.add_marker(nx.Marker("in the knee", "right shin", position=tuple(0.5 * np.subtract(knee, ankle))))

times = (0.0, 1.0, 10.0, 60.0)
result = nx.simulate(system, 60.0, nx.HHT(rtol=1e-4), initial=nx.equilibrium(system).report, output_times=times)

weights = {name: g * body.resolved(system.values).mass for name, body in system.bodies.items() if name != "ground"}
total = sum(weights.values())
centre = sum(w * result.position(name).values for name, w in weights.items()) / total
feet = result.contacts("feet")
force, point, at = feet.force.values, feet.point.values, result.position("in the knee").values
arm, below = point - at[:, None], ("right shin", "right ankle", "right foot")
moment = (arm[..., 0] * force[..., 2] - arm[..., 2] * force[..., 0]) @ np.isin(feet.a.values, below)
moment -= sum(weights[name] * (result.position(name).values - at)[:, 0] for name in below)
found = {
    "the centre of mass moves [m]": (np.linalg.norm(centre - centre[0], axis=1), 0.0),
    "Σ f/(m g)": (force[:, :, 2].sum(axis=1) / total, 1.0),
    "Σ f x/(m g X)": ((force[:, :, 2] * point[:, :, 0]).sum(axis=1) / (total * centre[:, 0]), 1.0),
    "torque of a knee by its moment": (result.effort("right knee motor").values / moment, 1.0),
}
for name, (values, known) in found.items():
    for t, value in zip(times[1:], values[1:], strict=True):
        print(f"{name}({t:g} s)  {value:.10f}  closed form  {known:.10f}  error {abs(value - known):.1e}")
print(f"it weighs {total:.2f} N; a knee gives {abs(moment[-1]):.2f} N m")
