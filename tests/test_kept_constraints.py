"""No run ends in silence far from its constraints: it warns where they are violated too much, and stops where they are lost."""

from __future__ import annotations

import mechanisms
import pytest

import nexdyn as nx


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
