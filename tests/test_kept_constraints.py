"""No run ends in silence far from its constraints: it warns where they are violated too much, and stops where they are lost."""

from __future__ import annotations

from typing import Any

import mechanisms
import numpy as np
import pytest

import nexdyn as nx
from nexdyn.problems.four_bars import four_bars


def test_a_weak_stabilisation_is_said_as_a_warning_and_in_the_result() -> None:
    weak = nx.Baumgarte(dt=0.02, alpha=0.0, beta=0.0)
    with pytest.warns(nx.NexDynWarning, match=r"violated by .* of the mechanism's size by t = .*, more than 0.001"):
        result = nx.simulate(mechanisms.four_bar(), 4.0, weak, output_every=10)
    (notice,) = (n for n in result.warnings if n["kind"] == "violation")
    assert result.status == "finished"
    assert 1e-3 < notice["value"] < 1e-2


def test_a_motion_that_has_left_its_constraints_stops() -> None:
    coarse = nx.Baumgarte(dt=0.1, alpha=0.0, beta=0.0)
    with pytest.raises(nx.SolveError, match=r"the motion has left its constraints") as caught:
        nx.simulate(mechanisms.four_bar(), 20.0, coarse)
    assert caught.value.result.status == "failed"
    assert 0.0 < caught.value.time < 20.0


# --- singular poses ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "method",
    [
        nx.Projection(rtol=1e-10),
        nx.Projection(dt=1e-3),
        nx.Baumgarte(dt=1e-3),
        nx.HHT(dt=1e-3),
        nx.HHT(),
        nx.RungeKutta4(1e-3),
        nx.DormandPrince(rtol=1e-10),
        nx.SemiImplicitEuler(1e-3),
    ],
    ids=lambda m: repr(m).split(", atol")[0],
)
def test_a_run_that_passes_near_a_singular_pose_says_so(method: Any) -> None:
    """The two four-bars of A02 lie flat at 0.714 s and at 1.228 s, where one freedom becomes three."""
    with pytest.warns(nx.NexDynWarning, match=r"passes near a singular pose at t = (0\.71|1\.22)\d* s"):
        result = nx.simulate(four_bars(), 1.3, method, output_every=100)
    assert [notice["kind"] for notice in result.warnings] == ["singular"]


@pytest.mark.parametrize("demo", ["bennett", "bricard", "sarrus", "stewart"])
@pytest.mark.parametrize(
    "method", [nx.Projection(dt=1e-3), nx.HHT(dt=1e-3), nx.RungeKutta4(1e-3)], ids=lambda m: repr(m).split(", atol")[0]
)
def test_redundant_mechanisms_at_regular_poses_are_not_told_singular(demo: str, method: Any) -> None:
    assert nx.simulate(nx.load(demo), 1.0, method).status == "finished"  # a warning would be an error here


def test_steps_of_many_turns_are_not_taken_for_a_singular_pose() -> None:
    """A rotor in two bearings, whose adaptive steps grow until the matrix of one, Cq T(θ), has next to nothing of its rows left."""
    system = nx.System("bearings", gravity=(0.0, 0.0, 0.0))
    system.add_body("rotor", mass=1.0, inertia=(0.1, 0.1, 0.1))
    system.add_joint(nx.Revolute("front", "ground", "rotor", at=(0, 0, 0), axis=(0, 0, 1), v0=200.0))
    system.add_joint(nx.Cylindrical("back", "ground", "rotor", at=(0, 0, 0.3), axis=(0, 0, 1)))
    result = nx.simulate(system, 2000.0, nx.HHT())
    assert np.diff(result.t.values).max() > 100.0
    assert not result.warnings
