"""Twelve mechanisms on which the incremental potential must not stop for a step that is smaller."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from mechanisms import three_cranks

import nexdyn as nx
from nexdyn.problems.bricard import bricard
from nexdyn.problems.four_bars import four_bars
from nexdyn.problems.governor import governor

Z = (0.0, 0.0, 1.0)


def thin_rod(axial: float = 0.0) -> nx.System:
    """A rod that hangs on a universal joint, inertia about itself `axial` of that across."""
    system = nx.System("rod", gravity=(0, 0, -9.81))
    rod = system.add_body("rod", mass=1.0, inertia=(1 / 12, 1 / 12, axial / 12), position=(0, 0, -0.5))
    system.add_joint(nx.Universal("joint", system.ground, rod, at=(0, 0, 0), axis=(0, 1, 0), v0=(2.0, 1.0)))
    return system


def table_oscillator() -> nx.System:
    """A disc between the halves of a force table."""
    system = nx.System("oscillator", gravity=(0, 0, 0))
    disc = system.add_body("disc", mass=1.0, inertia=(0.1, 0.1, 0.1))
    system.add_joint(nx.Revolute("hinge", system.ground, disc, at=(0, 0, 0), axis=Z, v0=1.0))
    system.add_force(nx.ForceTable("table", joint="hinge", deflections=(-1.0, 1.0), forces=(-2.0, 2.0)))
    return system


def gyroscope() -> nx.System:
    """A carrier on a ball joint, and on it a rotor that spins: no loop."""
    system = nx.System("gyroscope", gravity=(0, -9.81, 0))
    carrier = system.add_body("carrier", mass=0.6, inertia=(0.002, 0.02, 0.02), position=(0.3, 0, 0))
    rotor = system.add_body("rotor", mass=4.0, inertia=(0.03, 0.018, 0.018), position=(0.5, 0, 0))
    system.add_joint(nx.Spherical("ball", system.ground, carrier, at=(0, 0, 0)))
    system.add_joint(nx.Revolute("axle", carrier, rotor, at=(0.5, 0, 0), axis=(1, 0, 0), v0=30.0))
    return system


def engine(banks: int = 2, throws: int = 3) -> nx.System:
    """A crankshaft with `throws` throws and a cylinder of each bank on each, all hinges about one axis: 3 rows too many a cylinder."""
    system = nx.System("engine", gravity=(0, 0, -9.81))
    shaft = system.add_body("shaft", mass=5.0, inertia=(0.02, 0.03, 0.03), position=(0, 0, 0))
    system.add_joint(nx.Revolute("main", system.ground, shaft, at=(0, 0, 0), axis=(1, 0, 0), v0=60.0))
    radius, length = 0.05, 0.18
    for throw in range(throws):
        for bank in range(banks):
            name = f"{throw}{'LR'[bank]}"
            turn = 2 * np.pi * throw / throws
            tilt = np.radians(30.0) * (2 * bank - 1)
            x = 0.1 * throw + 0.03 * bank
            up = np.array([0.0, np.sin(tilt), np.cos(tilt)])
            pin = np.array([x, radius * np.sin(turn), radius * np.cos(turn)])
            along = pin @ up
            across = pin - along * up - [x, 0, 0]
            head = (along + np.sqrt(length**2 - across @ across)) * up + [x, 0, 0]
            rod = system.add_body(f"rod{name}", mass=0.5, inertia=(0.0015, 0.0015, 0.0015), position=(pin + head) / 2)
            piston = system.add_body(f"piston{name}", mass=0.4, inertia=(3e-4, 3e-4, 3e-4), position=head)
            system.add_joint(nx.Revolute(f"big{name}", shaft, rod, at=pin, axis=(1, 0, 0)))
            system.add_joint(nx.Revolute(f"small{name}", rod, piston, at=head, axis=(1, 0, 0)))
            system.add_joint(nx.Prismatic(f"bore{name}", system.ground, piston, at=head, axis=up))
    return system


def five_bar() -> nx.System:
    """A planar five-bar that falls through its poses, every hinge of five rows."""
    system = nx.System("five-bar", gravity=(0, -9.81, 0))
    points = np.array([(0, 0, 0), (-0.3, 0.8, 0), (0.6, 1.4, 0), (1.4, 0.7, 0), (1, 0, 0)], float)
    bars = [
        system.add_body(f"bar{i}", mass=1.0, inertia=(0.1, 0.12, 0.1), position=(points[i] + points[i + 1]) / 2)
        for i in range(4)
    ]
    chain = [system.ground, *bars]
    for i in range(4):
        system.add_joint(nx.Revolute(f"hinge{i}", chain[i], chain[i + 1], at=points[i], axis=Z))
    system.add_joint(nx.Revolute("hinge4", system.ground, bars[3], at=points[4], axis=Z))
    return system


def strikes() -> nx.System:
    """A hammer that falls on the stop of its guide, and a ball thrown along the ground."""
    system = nx.System("strikes", gravity=(0, 0, -9.81))
    law = {"stiffness": 1e4, "damping": 2.0, "exponent": 1.5}
    system.add_body("hammer", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1, 0, 0.02))
    system.add_joint(nx.Prismatic("guide", "ground", "hammer", at=(1, 0, 0.02), axis=Z, v0=-3.0))
    system.add_force(nx.JointStop("stop", "guide", lower=-0.02, **law))
    system.add_body("ball", mass=1.0, inertia=(0.004, 0.004, 0.004), position=(0, 0, 0.12))
    system.add_joint(nx.Free("free", "ground", "ball", v0=(0, 0, 0, 1, 0, -3)))
    system.add_force(nx.PlaneContact("floor", "ball", radius=0.1, friction=0.3, **law))
    return system


def bushed_arm() -> nx.System:
    """A thin arm on a bushing with dampers and a follower force, whose efforts have no potential."""
    system = nx.System("bushed arm", gravity=(0, 0, -9.81))
    arm = system.add_body("arm", mass=1.0, inertia=(1 / 12, 1 / 12, 1e-4), position=(0, 0, -0.5))
    K, D = (50.0, 50.0, 50.0, 2e4, 2e4, 2e4), (0.5, 0.5, 0.5, 20.0, 20.0, 20.0)
    system.add_force(nx.Bushing("bushing", system.ground, arm, anchor_b=(0, 0, 0.5), stiffness=K, damping=D))
    system.add_force(nx.AppliedForce("pull", arm, force=(2.0, 0, 0), expressed_in="body", anchor=(0, 0, -0.5)))
    return system


PROBLEMS: dict[str, tuple[Callable[[], nx.System], float]] = {
    "double pendulum": (lambda: nx.load("implicit-euler"), 3.0),
    "governor": (governor, 10.0),
    "Bricard": (bricard, 3.0),
    "two four-bars": (four_bars, 10.0),
    "three cranks": (lambda: three_cranks(14.0), 3.0),
    "thin rod": (thin_rod, 5.0),
    "table oscillator": (table_oscillator, 5.0),
    "gyroscope": (gyroscope, 5.0),
    "engine": (engine, 1.0),
    "five-bar": (five_bar, 3.0),
    "strikes": (strikes, 0.3),
    "bushed arm": (bushed_arm, 2.0),
}
"""Each with how long it runs [s]."""
