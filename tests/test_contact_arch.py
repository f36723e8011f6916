"""A semicircular arch of stones without mortar: it stands where limit analysis finds a line of thrust within it, else it falls."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq, linprog

import nexdyn as nx
from nexdyn.problems.arch import STONES as MANY
from nexdyn.problems.arch import THICK, THIN, add_arch, area_and_centre, corners

G = 9.81


def stands(ratio: float, n: int) -> float:
    """How far the forces at joints can be from a line of thrust that leaves them, as the least s for which normal forces at both corners of
    each joint, of at least −s, hold all stones, however much friction it takes: stands where s ≤ 0 (Heyman's safe theorem)."""
    x = corners(ratio, n)
    # unknowns: of each joint a normal force at the inner and the outer corner, one along it, and s
    joints = n + 1
    A, b = np.zeros((3 * n, 3 * joints + 1)), np.zeros(3 * n)
    angles = np.linspace(0.0, np.pi, joints)
    for i in range(n):
        area, centre = area_and_centre(x[i])
        b[3 * i + 1] = area  # weight per density, width and g, carried upwards
        for joint, sign, (inner, outer) in ((i, 1.0, x[i][:2]), (i + 1, -1.0, x[i][2:])):
            along = np.array([np.cos(angles[joint]), np.sin(angles[joint])])
            normal = sign * np.array([-along[1], along[0]])
            for column, point, way in ((0, inner, normal), (1, outer, normal), (2, inner, sign * along)):
                r = point - centre
                A[3 * i : 3 * i + 3, 3 * joint + column] += (*way, r[0] * way[1] - r[1] * way[0])
    least = np.zeros((2 * joints, 3 * joints + 1))
    for joint in range(joints):
        for column in range(2):
            least[2 * joint + column, [3 * joint + column, -1]] = -1.0
    cost = np.zeros(3 * joints + 1)
    cost[-1] = 1.0
    found = linprog(
        cost, A_ub=least, b_ub=np.zeros(2 * joints), A_eq=A, b_eq=b, bounds=[(None, None)] * (3 * joints + 1)
    )
    return float(found.fun)


def least_thickness(n: int) -> float:
    """Thickness over mean radius below which no line of thrust lies within the arch."""
    return float(brentq(lambda ratio: stands(ratio, n), 0.06, 0.2, xtol=1e-7))


def arch(ratio: float, n: int, stiffness: float) -> nx.System:
    """The stones as hulls, each with its neighbours and the first and the last with the ground."""
    system = nx.System("arch")
    add_arch(system, "stone", ratio, n, stiffness)
    return system


@pytest.mark.parametrize(("n", "known"), [(101, 0.10745), (401, 0.10748)])
def test_limit_analysis_finds_the_known_thickness(n: int, known: float) -> None:
    """Milankovitch's 0.10748 of many stones."""
    assert least_thickness(n) == pytest.approx(known, abs=6e-6)


def test_the_arches_that_are_verified_are_on_both_sides_of_the_least_thickness() -> None:
    assert least_thickness(MANY) == pytest.approx(0.10696, abs=6e-6)
    assert THIN < 0.9 * least_thickness(MANY) and 1.12 * least_thickness(MANY) < THICK


STONES = 9


@pytest.mark.slow
@pytest.mark.parametrize("thicker", [1.12, 0.9])
def test_an_arch_stands_above_its_least_thickness_and_falls_below(thicker: float) -> None:
    ratio = thicker * least_thickness(STONES)
    system = arch(ratio, STONES, 1e11)
    result = nx.simulate(system, 0.4, nx.HHT(rtol=1e-4), output_times=[0.0, 0.2, 0.4])
    sinks = [
        float(result.position(f"stone{STONES // 2}").values[0, 2] - z)
        for z in result.position(f"stone{STONES // 2}").values[1:, 2]
    ]
    if thicker > 1.0:
        assert max(sinks) < 5e-4
    else:
        assert sinks[1] > 3.0 * sinks[0] > 3e-3


@pytest.mark.slow
def test_an_arch_at_rest_carries_its_weight_by_thrust() -> None:
    """The feet carry half of the weight each, and the thrust at the crown times its height is the moment of half of the arch."""
    ratio = 1.3 * least_thickness(STONES)
    system = arch(ratio, STONES, 1e10)
    rest = nx.equilibrium(system)
    assert rest.stability == "stable"
    weight = sum(body.resolved({}).mass for body in system.bodies.values()) * G
    feet = nx.simulate(system, 0.0, nx.HHT(dt=1e-3), initial=rest.report).contacts("stone feet")
    assert np.abs(feet.force.values[-1][:, 2]) == pytest.approx([0.5 * weight] * 2, rel=1e-6)
    assert feet.force.values[-1][0, 0] == pytest.approx(-feet.force.values[-1][1, 0], rel=1e-6)
