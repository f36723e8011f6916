"""The published problems of ../shared/reference/benchmarks.md as systems, and their reference values."""

from __future__ import annotations

from typing import Any

import numpy as np

import nexdyn as nx
from nexdyn.spatial.rotations import exp_quaternion

Z = (0.0, 0.0, 1.0)


def turned(angle: float) -> np.ndarray:
    """The quaternion of a turn about z."""
    return exp_quaternion(np.array([0.0, 0.0, angle]))


def spot(origin: Any, angle: float, point: Any) -> np.ndarray:
    """A point of a planar body in the world."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([origin[0] + c * point[0] - s * point[1], origin[1] + s * point[0] + c * point[1], 0.0])


# --- A01: simple pendulum -------------------------------------------------------------------------------------------

A01 = {1: (0.9862917511, -0.1650108531), 5: (-0.9423054350, -0.3347543384), 10: (-0.2750874626, -0.9614192051)}


def pendulum() -> nx.System:
    """1 kg at the end of a massless bar of 1 m."""
    system = nx.System("A01 pendulum", gravity=(0, -9.81, 0))
    mass = system.add_body("mass", mass=1.0, inertia=(0, 0, 0), position=(-1, 0, 0))
    system.add_joint(nx.Revolute("hinge", system.ground, mass, at=(0, 0, 0), axis=Z))
    return system


# --- A02: N four-bar ------------------------------------------------------------------------------------------------

A02 = {
    1: (-0.1950203019, -0.9807992057, -6.6766780369, 1.3275783252),
    5: (-0.8113104610, -0.5846155454, -3.5691173972, 4.9531051713),
    10: (0.3284581115, 0.9445185382, 1.4230514702, -0.4948688455),
}


def four_bars(n: int = 2) -> nx.System:
    """n four-bars side by side that pass their flat pose, where they have n + 1 degrees of freedom."""
    system = nx.System(f"A02 with {n} loops", gravity=(0, -9.81, 0))
    inertia = (1 / 12, 1 / 12, 1 / 12)
    standing = []
    for i in range(n + 1):
        rod = system.add_body(f"standing{i}", mass=1.0, inertia=inertia, position=(i, 0.5, 0))
        system.add_joint(nx.Revolute(f"ground{i}", system.ground, rod, at=(i, 0, 0), axis=Z, v0=-1.0))
        standing.append(rod)
    for i in range(n):
        rod = system.add_body(f"lying{i}", mass=1.0, inertia=inertia, position=(i + 0.5, 1, 0))
        system.add_joint(nx.Revolute(f"left{i}", standing[i], rod, at=(i, 1, 0), axis=Z))
        system.add_joint(nx.Revolute(f"right{i}", rod, standing[i + 1], at=(i + 1, 1, 0), axis=Z))
    system.add_marker(nx.Marker("B0", standing[0], position=(0, 0.5, 0)))
    return system


# --- A03: Andrews' squeezing mechanism ------------------------------------------------------------------------------

ANDREWS_BODIES = ("K1", "K2", "K3", "K4", "K5", "K6", "K7")
ANDREWS_START = {
    "beta": -0.0617138900142764496, "theta": 0.0, "gamma": 0.455279819163070380, "phi": 0.222668390165885885,
    "delta": 0.487364979543842550, "omega": -0.222668390165885885, "epsilon": 1.230547444549821192,
}  # fmt: skip
ANDREWS_END = {
    "beta": 15.8107711951537, "theta": -15.7563710584118, "gamma": 0.0408222401196459, "phi": -0.5347301163420792,
    "delta": 0.5244099658799541, "omega": 0.5347301163420792, "epsilon": 1.0480807410419379,
}  # fmt: skip
ANDREWS_RATES = {
    "beta": 1139.92030225911, "theta": -1424.37929517754, "gamma": 11.0329119106186, "phi": 19.2933741050320,
    "delta": 0.573569914829499, "omega": -19.2933741050320, "epsilon": 0.323179149249132,
}  # fmt: skip


def andrews() -> nx.System:
    """Seven bodies in the plane, ten hinges, one degree of freedom."""
    m = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)
    inertia = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
    d, da, _e, ea, rr, ra = 0.028, 0.0115, 0.02, 0.01421, 0.007, 0.00092
    _ss, sa, sb, sc, sd = 0.035, 0.01874, 0.01043, 0.018, 0.02
    ta, tb, u, ua, ub, _zf, zt, fa = 0.02308, 0.00916, 0.04, 0.01228, 0.00449, 0.02, 0.04, 0.01421
    A, B, C = (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072, 0.0)
    x = ANDREWS_START
    angle = (
        x["beta"], x["beta"] + x["theta"], x["gamma"], x["delta"] + x["phi"], x["delta"], x["epsilon"] + x["omega"],
        x["epsilon"],
    )  # fmt: skip
    F = spot((0, 0), angle[0], (rr, 0))
    E = spot(F, angle[1], (-d, 0))
    G, H = spot(A, angle[4], (zt, 0)), spot(A, angle[6], (0, -u))
    origin = ((0, 0, 0), F, (*B, 0), E, (*A, 0), E, (*A, 0))
    com = ((ra, 0), (-da, 0), (sb, -sa), (0, ea), (ta, tb), (-fa, 0), (-ua, -ub))
    system = nx.System("Andrews' squeezing mechanism", gravity=(0, 0, 0))
    K = [
        system.add_body(
            name, mass=m[i], inertia=(inertia[i],) * 3, com=(*com[i], 0), position=origin[i], orientation=turned(angle[i])
        )
        for i, name in enumerate(ANDREWS_BODIES)
    ]  # fmt: skip
    hinges = (
        ("O", system.ground, K[0], (0, 0, 0)), ("F", K[0], K[1], F), ("B", system.ground, K[2], (*B, 0)),
        ("A5", system.ground, K[4], (*A, 0)), ("A7", system.ground, K[6], (*A, 0)), ("E3", K[1], K[2], E),
        ("E4", K[1], K[3], E), ("E6", K[1], K[5], E), ("G", K[4], K[3], G), ("H", K[6], K[5], H),
    )  # fmt: skip
    for name, parent, child, at in hinges:
        system.add_joint(nx.Revolute(name, parent, child, at=at, axis=Z))
    system.add_force(nx.AppliedForce("motor", K[0], torque=(0, 0, 0.033)))
    system.add_force(
        nx.PointSpring("spring", K[2], "ground", anchor_a=(sd, -sc, 0), anchor_b=C, stiffness=4530.0, length=0.07785)
    )
    return system


def andrews_angles(result: nx.Result, rates: bool = False) -> dict[str, float]:
    """The seven angles, or their rates, at the end; full turns of β as the reference counts them."""
    if rates:
        w = {name: float(result.angular_velocity(name)[-1, 2]) for name in ANDREWS_BODIES}
    else:
        w = {}
        for name in ANDREWS_BODIES:
            q = result.orientation(name)[-1].values
            w[name] = 2.0 * float(np.arctan2(q[3], q[0]))
    found = {
        "beta": w["K1"], "theta": w["K2"] - w["K1"], "gamma": w["K3"], "phi": w["K4"] - w["K5"], "delta": w["K5"],
        "omega": w["K6"] - w["K7"], "epsilon": w["K7"],
    }  # fmt: skip
    if not rates:
        for key, value in ANDREWS_END.items():
            found[key] += 2.0 * np.pi * round((value - found[key]) / (2.0 * np.pi))
    return found


# --- A04: Bricard ---------------------------------------------------------------------------------------------------

A04 = {
    0.5: (0.7747178080, -0.9798150477, -0.1999061590),
    1: (0.2744813193, -0.8867079387, -0.4623300027),
    2: (-0.7781353730, -0.9803526834, -0.1972526706),
    5: (0.9999327423, -0.9999999977, -6.72554e-5),
    10: (0.9997309873, -0.9999999638, -2.689765e-4),
}


def bricard() -> nx.System:
    """Five rods, six hinges: one degree of freedom, one redundant constraint."""
    system = nx.System("A04 Bricard", gravity=(0, -9.81, 0))
    P = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], float)
    across, along = (1 + 0.01) / 12, 0.01 / 6
    rods = []
    for i in range(5):
        axis = np.abs(P[i + 1] - P[i])
        inertia = np.where(axis > 0.5, along, across)
        rods.append(system.add_body(f"rod{i}", mass=1.0, inertia=inertia, position=(P[i] + P[i + 1]) / 2))
    chain = [system.ground, *rods, system.ground]
    axes = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}
    for i, axis in enumerate("yzxyzx"):
        a, b = chain[i], chain[i + 1]
        a, b = (b, a) if b is system.ground else (a, b)
        system.add_joint(nx.Revolute(f"P{i + 1}", a, b, at=P[i], axis=axes[axis]))
    system.add_marker(nx.Marker("P3", rods[1], position=P[2] - (P[1] + P[2]) / 2))
    return system


# --- A05: stiff flyball governor ------------------------------------------------------------------------------------

A05 = {
    0.1: (0.5238364756, 0.459271810, 6.103717809),
    0.5: (0.7432494248, 0.052119780, 5.103415422),
    1: (0.5014209224, -0.122151493, 6.271125742),
    2: (0.5059092943, -0.240783147, 6.236223614),
}


def governor() -> nx.System:
    """Shaft, slider, two rods with balls, two stiff springs with dampers."""
    system = nx.System("A05 governor", gravity=(0, 0, -9.81))
    across, along = 0.3 * (1 + 1e-4) / 12, 0.3 * 1e-4 / 6
    spin = 2 * np.pi
    shaft = system.add_body("shaft", mass=0.3, inertia=(across, across, along), position=(0, 0, 0.5))
    system.add_joint(nx.Revolute("bearing", system.ground, shaft, at=(0, 0, 0), axis=Z, v0=spin))
    slider = system.add_body("slider", mass=3.0, inertia=(0.005,) * 3, position=(0, 0, 0.5))
    system.add_joint(nx.Prismatic("guide", shaft, slider, at=(0, 0, 0.5), axis=Z, v0=0.0))
    tilt = np.pi / 6
    for side, sign in (("left", -1.0), ("right", 1.0)):
        hinge = np.array([0.05 * sign, 0.0, 1.0])
        way = np.array([sign * np.cos(tilt), 0.0, -np.sin(tilt)])
        # rod and ball are one body; its axis x is along the rod
        m, c = 5.3, (0.3 * 0.5 + 5.0 * 1.0) / 5.3
        I = across + 0.3 * (c - 0.5) ** 2 + 5.0 * (1.0 - c) ** 2
        angle = tilt if sign > 0 else np.pi - tilt  # about y, from x to the rod
        rod = system.add_body(
            f"{side} rod", mass=m, inertia=(along, I, I), position=hinge + c * way,
            orientation=exp_quaternion(np.array([0.0, angle, 0.0])),
        )  # fmt: skip
        system.add_joint(nx.Revolute(f"{side} hinge", shaft, rod, at=hinge, axis=(0, 1, 0), v0=0.0))
        system.add_force(
            nx.PointSpring(
                f"{side} spring",
                slider,
                rod,
                anchor_a=(0.05 * sign, 0, 0),
                anchor_b=(0.5 - c, 0, 0),
                stiffness=8e5,
                damping=4e4,
                length=0.5,
            )
        )
    return system


# --- rotations ------------------------------------------------------------------------------------------------------

TOP = {
    0.1: (0.4212966589, 0.8945719743, -0.1491647006),
    0.2: (0.6055505614, 0.5989576818, -0.5239830274),
    1: (0.1733439641, 0.6400885921, -0.7484907911),
}


def heavy_top() -> nx.System:
    """Géradin–Cardona, Brüls–Cardona: spins at 150 rad/s about a fixed point."""
    system = nx.System("heavy top", gravity=(0, 0, -9.81))
    top = system.add_body("top", mass=15.0, inertia=(0.234375, 0.46875, 0.234375), position=(0, 1, 0))
    system.add_joint(nx.Spherical("point", system.ground, top, at=(0, 0, 0), v0=(0, 150, -4.61538)))
    return system


def tumbling() -> nx.System:
    """Dzhanibekov's body: free of torque, spinning about its middle axis."""
    system = nx.System("tumbling body", gravity=(0, 0, 0))
    body = system.add_body("body", mass=1.0, inertia=(1, 2, 3))
    system.add_joint(nx.Free("free", system.ground, body, v0=(0.01, 1, 0, 0, 0, 0)))
    return system


TUMBLING_10 = (0.976782616339, 0.214466128838, -0.563916152036)

DOUBLE = {
    "points": {0.5: (0.5704720512, 1.2038751112), 1: (-0.6250876998, -1.0345850857), 2: (-0.4829715343, -1.3240487123)},
    "rods": {0.5: (0.4481426259, 1.0419628873), 1: (-1.2077162382, -0.8143910231), 2: (-0.0827583068, 0.4073620749)},
}


def double_pendulum(kind: str) -> nx.System:
    """Two links of 1 kg and 1 m, both horizontal at rest: point masses at the ends, or uniform rods."""
    system = nx.System("double pendulum", gravity=(0, -9.81, 0))
    parent = system.ground
    for i in (0, 1):
        at_end = kind == "points"
        inertia = (0, 0, 0) if at_end else (1 / 12, 1 / 12, 1 / 12)
        link = system.add_body(f"link{i + 1}", mass=1.0, inertia=inertia, position=(i + (1.0 if at_end else 0.5), 0, 0))
        system.add_joint(nx.Revolute(f"hinge{i + 1}", parent, link, at=(i, 0, 0), axis=Z))
        parent = link
    return system
