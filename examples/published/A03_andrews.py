"""A03, Andrews' squeezing mechanism: seven bodies, ten hinges, one freedom, sixteen turns in 30 ms. Test Set for IVP Solvers.

    python examples/published/A03_andrews.py

Bodies are described where the published angles put them, so that each hinge counts from there: the published relative angles
are the coordinates of seven of the hinges.
"""

from math import cos, sin

import nexdyn as nx

BETA, GAMMA, PHI = -0.0617138900142764496, 0.455279819163070380, 0.222668390165885885
DELTA, EPSILON = 0.487364979543842550, 1.230547444549821192
A, B, C = (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)
MOTOR = 0.033  # N m
PUBLISHED = {  # hinge: (angle at the start, angle [rad], rate [rad/s] after 0.03 s)
    "O": (BETA, 15.8107711951537, 1139.92030225911),
    "F": (0.0, -15.7563710584118, -1424.37929517754),
    "B": (GAMMA, 0.0408222401196459, 11.0329119106186),
    "G": (PHI, -0.5347301163420792, 19.2933741050320),
    "A5": (DELTA, 0.5244099658799541, 0.573569914829499),
    "H": (-PHI, 0.5347301163420792, -19.2933741050320),
    "A7": (EPSILON, 1.0480807410419379, 0.323179149249132),
}


def spot(origin, angle, point):
    """A point of a body that is turned by `angle` about z, in the world."""
    c, s = cos(angle), sin(angle)
    return (origin[0] + c * point[0] - s * point[1], origin[1] + s * point[0] + c * point[1], 0.0)


system = nx.System("A03", gravity=(0, 0, 0))
F, G, H = spot((0, 0), BETA, (0.007, 0)), spot(A, DELTA, (0.04, 0)), spot(A, EPSILON, (0, -0.04))
E = spot(F, BETA, (-0.028, 0))
for name, mass, inertia, origin, angle, com in (
    ("K1", 0.04325, 2.194e-6, (0, 0, 0), BETA, (0.00092, 0, 0)),
    ("K2", 0.00365, 4.410e-7, F, BETA, (-0.0115, 0, 0)),
    ("K3", 0.02373, 5.255e-6, (*B, 0), GAMMA, (0.01043, -0.01874, 0)),
    ("K4", 0.00706, 5.667e-7, E, DELTA + PHI, (0, 0.01421, 0)),
    ("K5", 0.07050, 1.169e-5, (*A, 0), DELTA, (0.02308, 0.00916, 0)),
    ("K6", 0.00706, 5.667e-7, E, EPSILON - PHI, (-0.01421, 0, 0)),
    ("K7", 0.05498, 1.912e-5, (*A, 0), EPSILON, (-0.01228, -0.00449, 0)),
):
    turned = (cos(angle / 2), 0, 0, sin(angle / 2))
    system.add_body(name, mass=mass, inertia=(inertia,) * 3, com=com, position=origin, orientation=turned)
for name, parent, child, at in (
    ("O", "ground", "K1", (0, 0, 0)), ("F", "K1", "K2", F), ("B", "ground", "K3", (*B, 0)), ("A5", "ground", "K5", (*A, 0)),
    ("A7", "ground", "K7", (*A, 0)), ("E3", "K2", "K3", E), ("E4", "K2", "K4", E), ("E6", "K2", "K6", E),
    ("G", "K5", "K4", G), ("H", "K7", "K6", H),
):  # fmt: skip
    system.add_joint(nx.Revolute(name, parent, child, at=at, axis=(0, 0, 1)))
system.add_force(nx.AppliedForce("motor", "K1", torque=(0, 0, MOTOR)))
system.add_force(
    nx.PointSpring(
        "spring", "K3", "ground", anchor_a=(0.02, -0.018, 0), anchor_b=(*C, 0), stiffness=4530.0, length=0.07785
    )
)

print(f"10 hinges, {nx.assemble(system).redundancy.dof} degree of freedom")

# A tree of the bodies carries it, its loops closed by the hinges that are cut; steps fit themselves to the motion.
result = nx.simulate(system, 0.03, nx.DormandPrince(rtol=1e-10, atol=1e-12))
for hinge, (start, angle, rate) in PUBLISHED.items():
    q, v = start + float(result.joint_position(hinge)[-1]), float(result.joint_velocity(hinge)[-1])
    print(f"angle at {hinge}  {q:.10f}  published  {angle:.10f}  error {abs(q - angle):.1e}")
    print(f"rate at {hinge}  {v:.10f}  published  {rate:.10f}  error {abs(v - rate):.1e}")

# What the motor has done is in the mechanism: T + V − mom (β − β₀) stays.
stored = result.energy()["total"] - MOTOR * result.joint_position("O")
moved = MOTOR * float(result.joint_position("O")[-1])
print(
    f"energy that came from nowhere: {float(abs(stored - stored[0]).max()):.1e} J, beside {moved:.2f} J from the motor"
)
