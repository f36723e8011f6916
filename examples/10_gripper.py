"""A gripper lifts a ball: which friction holds it, and what the fingers feel.

python examples/10_gripper.py
"""

import nexdyn as nx

MASS, PRESS, LIFT, G = 0.4, 10.0, 2.0, 9.81  # of the ball [kg], of a finger [N], upwards [m/s²]
STIFF = 1e6  # after Hertz [N/m^1.5]: so far the fingers press into the ball
GIVES = (PRESS / STIFF) ** (2 / 3)


def gripper(friction: float) -> nx.System:
    """A palm that is driven up, two fingers that slide on it, and a ball between them."""
    system = nx.System("gripper")
    system.add_body("ball", mass=MASS, shapes=[nx.Sphere(0.05)])
    system.add_joint(nx.Free("free", "ground", "ball"))
    system.add_body("palm", mass=1.0, inertia=(0.01, 0.01, 0.01))
    system.add_joint(nx.Prismatic("lift", "ground", "palm", axis=(0, 0, 1)))
    system.add_driver(nx.Driver("up", "lift", f"=0.5*{LIFT}*t**2"))
    for side, name in ((-1.0, "left"), (1.0, "right")):
        finger = nx.Box((0.02, 0.06, 0.3))
        system.add_body(name, mass=0.1, position=(side * (0.06 - GIVES), 0, 0), shapes=[finger])
        system.add_joint(nx.Prismatic(f"{name} slide", "palm", name, axis=(1, 0, 0)))
        system.add_force(nx.JointForce(f"{name} push", f"{name} slide", -side * PRESS))
    grip = nx.Contact("grip", ["left", "right"], "ball", stiffness=STIFF, damping=5.0, friction=friction)
    system.add_contact(grip)
    return system


# Rigid fingers hold for 2 μ N > m (g + a): here from this friction on.
needed = MASS * (G + LIFT) / (2 * PRESS)
print(f"friction that holds: {needed:.4f}")

for friction in (1.05 * needed, 0.95 * needed):
    # its weight comes on at once, and springs give a little: what it does from 0.3 s on
    result = nx.simulate(gripper(friction), 0.6, nx.HHT(), output_times=[0.3, 0.6])
    down = result.velocity("palm").values[:, 2] - result.velocity("ball").values[:, 2]
    grip = result.contacts("grip")
    stick = "sticks" if grip.sticks.values[-1].all() else "slips"
    print(
        f"friction {friction:.4f}: the ball {stick}, faster down the fingers by {down[-1] - down[-2]:.6f} m/s in 0.3 s; "
        f"each finger presses with {grip.normal.values[-1].mean():.4f} N"
    )
