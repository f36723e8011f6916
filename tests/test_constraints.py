"""Constraint primitives: gradients and second derivatives against differences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import nexdyn as nx
from nexdyn.absolute.model.model import AbsoluteModel, absolute_model
from nexdyn.constraints import kinds
from nexdyn.constraints.tables import Terms


def two_bodies(rng: np.random.Generator) -> nx.System:
    system = nx.System("pair")
    bodies = []
    for name in ("a", "b"):
        q = rng.normal(size=4)
        bodies.append(
            system.add_body(
                name, mass=1.0, inertia=(1, 1, 1), position=rng.normal(size=3), orientation=q / np.linalg.norm(q)
            )
        )
    point = {"anchor_a": rng.normal(size=3), "anchor_b": rng.normal(size=3)}
    system.add_joint(nx.Fixed("joint", *bodies, axis_a=rng.normal(size=3), axis_b=rng.normal(size=3), **point))
    return system


def with_primitive(model: AbsoluteModel, number: int) -> AbsoluteModel:
    terms = Terms(model.tables.terms)
    terms.primitive[:], terms.near[:] = number, 0
    return replace(model, near_start=np.zeros(1))


WITHOUT_DATA = [name for name, number in kinds.NUMBER.items() if number < kinds.NORMAL]
every_primitive = pytest.mark.parametrize("name", WITHOUT_DATA)


@every_primitive
def test_the_jacobian_is_the_derivative(name: str, rng: np.random.Generator) -> None:
    model = with_primitive(absolute_model(two_bodies(rng)), kinds.NUMBER[name])
    J, h = model.jacobian(model.q)[0], 1e-6
    for i, e in enumerate(np.eye(model.nv)):
        ahead, behind = (model.residual(model.moved(model.q, s * h * e))[0] for s in (1, -1))
        assert abs((ahead - behind) / (2 * h) - J[i]) < 1e-8 * max(1.0, abs(J[i]))


@every_primitive
def test_gamma_is_minus_the_second_derivative_along_a_steady_motion(name: str, rng: np.random.Generator) -> None:
    model = with_primitive(absolute_model(two_bodies(rng)), kinds.NUMBER[name])
    v, h = rng.normal(size=(3, 6)), 1e-4
    v[0] = 0.0
    step = v[1:].reshape(-1)
    ahead, here, behind = (model.residual(model.moved(model.q, s * h * step))[0] for s in (1, 0, -1))
    assert abs((ahead - 2 * here + behind) / h**2 + model.gamma(model.q, v)[0]) < 1e-5


@every_primitive
def test_the_curvature_is_the_second_derivative(name: str, rng: np.random.Generator) -> None:
    model = with_primitive(absolute_model(two_bodies(rng)), kinds.NUMBER[name])
    weight = np.zeros(model.nc)
    weight[0] = 1.7
    H = model.curvature(model.q, weight)
    assert np.array_equal(H, H.T)
    v = rng.normal(size=(3, 6))
    v[0] = 0.0
    step = v[1:].reshape(-1)
    assert step @ H @ step == pytest.approx(-1.7 * model.gamma(model.q, v)[0], rel=1e-10)


def test_a_body_moved_with_its_velocity_keeps_the_kinetic_energy_of_its_mass_matrix(rng: np.random.Generator) -> None:
    system = nx.System("body")
    body = system.add_body("b", mass=2.0, inertia=(1, 2, 2.5), com=(0.3, -0.2, 0.1), position=(1, 2, 3))
    tree, model = nx.Tree(system), absolute_model(system)
    v = rng.normal(size=6)
    w, u = tree.velocity(tree.described(), v, body.name)
    R, _ = tree.pose(tree.described(), body.name)
    x = np.concatenate([R.T @ w, u])
    assert 0.5 * x @ model.mass_matrix(model.q) @ x == pytest.approx(tree.kinetic_energy(tree.described(), v))
