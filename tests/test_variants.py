"""Kernels of what a mechanism has move it as those of the richest do, under every family of methods."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from turns import in_turns

import nexdyn as nx
from nexdyn import variants


def pendulum(**of_hinge: float) -> nx.System:
    """No forces, no loops, no curves."""
    system = nx.System("pendulum")
    system.add_body("bob", mass=1.0, inertia=(0.1, 0.2, 0.3), position=(0.5, 0.0, 0.0))
    system.add_joint(nx.Revolute("hinge", "ground", "bob", at=(0, 0, 0), axis=(0, 1, 0), **of_hinge))
    return system


def hinged() -> nx.System:
    """A spring in the joint, no force element."""
    return pendulum(stiffness=3.0, damping=0.1)


def four_bar() -> nx.System:
    return nx.load("four-bar")


def coin() -> nx.System:
    """A row whose data is a curve or a surface."""
    return nx.load("rolling-coin")


METHODS: dict[str, nx.RungeKutta4 | nx.HHT | nx.ImplicitEuler | nx.SemiImplicitEuler] = {
    "rk4": nx.RungeKutta4(1e-3),
    "hht": nx.HHT(dt=1e-3),
    "implicit": nx.ImplicitEuler(1e-3),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("made", "method"),
    in_turns(
        [
            *((pendulum, method) for method in METHODS),
            (hinged, "rk4"),
            (hinged, "hht"),
            (four_bar, "rk4"),
            (four_bar, "hht"),
            (coin, "hht"),
        ],
        of=3,
    ),  # what a mechanism has decides under each method; all of all would compile for minutes
)
def test_kernels_of_what_it_has_and_of_the_richest_move_a_mechanism_alike(
    made: Callable[[], nx.System], method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = []
    for for_all in (False, True):
        monkeypatch.setattr(variants, "one_for_all", for_all)
        results.append(nx.simulate(made(), 0.05, METHODS[method]))
    own, shared = results
    body = next(iter(own.system.bodies))
    assert np.abs(own.position(body) - shared.position(body)).max() <= 1e-12
    assert np.abs(own.velocity(body) - shared.velocity(body)).max() <= 1e-11
    assert np.abs(own.energy() - shared.energy()).max() <= 1e-9 * np.abs(own.energy()).max() + 1e-12
    for joint in own.system.joints:
        most = np.abs(own.reaction(joint)).max()
        assert np.abs(own.reaction(joint) - shared.reaction(joint)).max() <= 1e-9 * most + 1e-10


def test_parts_that_are_absent_are_left_out_unless_kernels_are_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(variants, "one_for_all", False)
    assert variants.leaves_out(True) and not variants.leaves_out(False)
    monkeypatch.setattr(variants, "one_for_all", True)
    assert not variants.leaves_out(True) and not variants.leaves_out(False)
