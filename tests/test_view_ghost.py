"""Two results over each other and members of a batch on the page, with their numbers; what is refused."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from chromium import (
    PLAIN,
    browser,  # noqa: F401 (fixtures)
    card,
    comes_true,
    needs_chromium,
    numbers,
    on_a_free_port,
    opened,
    saved,
)

import nexdyn as nx
from nexdyn.errors import InputError
from nexdyn.view.ghost import apart, check_same, differences
from nexdyn.view.motion import Motion
from nexdyn.view.stage import Look

METHOD: Any = nx.RungeKutta4(1e-3)


def chain(mass: float = 1.0, t_end: float = 2.0, every: int = 10) -> nx.Result:
    system = nx.load("hinge-chain").with_parameters({"link6.mass": mass})
    return nx.simulate(system, t_end=t_end, method=METHOD, output_every=every)


@pytest.fixture(scope="module")
def light() -> nx.Result:
    return chain()


@pytest.fixture(scope="module")
def heavy() -> nx.Result:
    return chain(3.0)


def test_the_difference_is_that_of_the_positions_and_of_the_attitudes(light: nx.Result, heavy: nx.Result) -> None:
    a, b = Motion.of(light), Motion.of(heavy)
    for t in (0.5, 1.7):
        distance, angle = apart(a, b, t)
        p, q = (r.position().sel(time=t, method="nearest").values for r in (light, heavy))
        np.testing.assert_allclose(distance, np.linalg.norm(p - q, axis=1), atol=1e-6)
        R, S = (r.rotation().sel(time=t, method="nearest").values for r in (light, heavy))
        cosine = (np.einsum("bij,bij->b", R, S) - 1.0) / 2.0
        np.testing.assert_allclose(angle, np.arccos(np.clip(cosine, -1.0, 1.0)), atol=1e-5)
        assert distance.max() > 0.05


def test_a_result_is_nowhere_apart_from_itself(light: nx.Result) -> None:
    panel = differences(Motion.of(light), Motion.of(light))
    assert panel is not None and len(panel.lines[0].x) == len(light.t)
    assert all((line.y == 0.0).all() for line in panel.lines)


def test_results_whose_samples_differ_are_compared_in_the_time_that_both_have(light: nx.Result) -> None:
    panel = differences(Motion.of(light), Motion.of(chain(t_end=1.0, every=4)))
    assert panel is not None and panel.lines[0].x[-1] == pytest.approx(1.0)
    assert max(line.y.max() for line in panel.lines) < 2e-3  # what lies between samples 10 ms apart


@pytest.mark.parametrize(
    ("other", "named"),
    [("double-pendulum", "shown result has bodies link1, .*6 in all"), ("four-bar", "only the ghost has bodies coupler, crank")],
)  # fmt: skip
def test_a_ghost_of_another_mechanism_is_refused_by_what_differs(light: nx.Result, other: str, named: str) -> None:
    result = nx.simulate(nx.load(other), t_end=0.1, method=nx.RungeKutta4(1e-3))
    with on_a_free_port(light) as viewer, pytest.raises(InputError, match=named):
        viewer.lay_over(result)


def test_a_joint_of_another_kind_is_named(light: nx.Result) -> None:
    system, other = nx.System("one"), nx.System("other")
    for s, kind in ((system, nx.Revolute), (other, nx.Prismatic)):
        body = s.add_body("link", mass=1.0, inertia=(1, 1, 1))
        s.add_joint(kind("hinge", s.ground, body, at=(0, 0, 0), axis=(0, 0, 1)))
    with pytest.raises(InputError, match=r"joint 'hinge' is revolute .* in the shown result, prismatic"):
        check_same(system, other)


@needs_chromium
@pytest.mark.timeout(900)
def test_a_ghost_is_drawn_where_the_other_result_is_and_the_page_tells_the_difference(
    browser: Any, light: nx.Result, heavy: nx.Result
) -> None:
    with on_a_free_port(light) as viewer:
        viewer.pause()
        viewer.look(Look(PLAIN))
        viewer.seek(1.2)
        with opened(browser, viewer.address) as tab:
            comes_true(lambda: viewer.watched)
            alone = tab.settled(viewer.server)
            viewer.lay_over(heavy)
            both = tab.settled(viewer.server)
            new = both[np.abs(both - alone).max(axis=-1) > 25]
            assert len(new) > 200 and (new[:, 2] > new[:, 0]).mean() > 0.8  # blue, where nothing was
            for t in (1.2, 0.4):
                viewer.seek(t)
                viewer.select("link6")
                tab.settled(viewer.server)
                told = card(tab)
                distance, angle = apart(Motion.of(light), Motion.of(heavy), t)
                far = int(np.argmax(distance))
                for label, k in ((f"link{far + 1} (farthest)", far), *([] if far == 5 else [("link6", 5)])):
                    np.testing.assert_allclose(numbers(told[f"{label}: distance"]), distance[k], rtol=2e-3)
                    np.testing.assert_allclose(numbers(told[f"{label}: angle"]), angle[k], rtol=2e-3)
            titles = "[...document.querySelectorAll('.u-title')].map(x => x.innerText)"
            tab.comes_true(lambda: "difference from the ghost, distance [m]" in tab.page.evaluate(titles))
            viewer.lay_over(None)
            viewer.seek(1.2)
            viewer.select("")
            assert np.abs(tab.settled(viewer.server) - alone).max() < 25
            assert tab.faults == []


# --- members of a batch ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def batch() -> nx.BatchResult:
    system = nx.load("double-pendulum")
    q0 = np.array([[0.1, 0.0], [0.5, 0.0], [1.0, 0.2]])
    return nx.simulate(system, t_end=1.0, method=nx.RungeKutta4(1e-3), batch=nx.Batch(q0=q0), output_every=10)


@needs_chromium
@pytest.mark.timeout(900)
def test_a_member_of_a_batch_is_chosen_from_a_list(browser: Any, batch: nx.BatchResult) -> None:
    with on_a_free_port(batch) as viewer:
        viewer.pause()
        viewer.look(Look(PLAIN))
        with opened(browser, viewer.address) as tab:
            comes_true(lambda: viewer.watched)
            tab.settled(viewer.server)
            for m in (2, 1):
                tab.page.get_by_label("member", exact=True).click()
                tab.page.get_by_role("option", name=f"{m}", exact=True).click()
                expected = batch.member(m).position().values
                comes_true(lambda x=expected: np.allclose(viewer._desk.motion.position, x, atol=1e-5))
                viewer.seek(0.7)
                viewer.select(viewer._desk.motion.bodies[-1])
                tab.settled(viewer.server)
                tab.comes_true(
                    lambda x=expected: np.allclose(numbers(card(tab)["position"]), x[70, -1], rtol=1e-3, atol=1e-3)
                )
            page = saved(tab, "HTML")[1].decode()
            told = json.loads(page.partition('id="nexdyn-members">')[2].partition("</script>")[0])
            assert told == {"members": [[0, "0"], [1, "1"], [2, "2"]], "others": 0, "first": 1}
            with pytest.raises(InputError, match="members 0 to 2"):
                viewer.show_member(3)
            assert tab.faults == []


def test_only_a_batch_has_members(light: nx.Result) -> None:
    with on_a_free_port(light) as viewer, pytest.raises(InputError, match="no batch"):
        viewer.show_member(0)
