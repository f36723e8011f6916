"""Batches under HHT with a constant step: members that share a pattern march in lanes, each as it would alone."""

from __future__ import annotations

from typing import Any

import mechanisms
import numpy as np
import pytest

import nexdyn as nx
from nexdyn.absolute.motion import hht_lanes
from nexdyn.batch import bodies as batch_bodies
from nexdyn.errors import SolveError
from nexdyn.simulation.marches.bodies import BodySimulation
from nexdyn.spatial.lanes import LANES

MEMBERS = LANES + 3
DT, END = 2e-3, 0.0605  # with a step that is shorter than the others


@pytest.fixture
def packs(monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """The members of each pack that marches."""
    marched: list[list[int]] = []
    march = batch_bodies.BodyLanes._march

    def noted(self: Any, pack: Any) -> list[int]:
        marched.append(list(pack.numbers))
        return march(self, pack)

    monkeypatch.setattr(batch_bodies.BodyLanes, "_march", noted)
    return marched


def tree() -> nx.System:
    """Three bodies in joints of three kinds, with all that lanes carry."""
    system = nx.System("tree", gravity=(0, 0, -9.81))
    a, b = (
        system.add_body(name, mass=1.0, inertia=(0.1, 0.2, 0.25), position=(0, 0, z))
        for name, z in (("a", -1), ("b", -2))
    )
    c = system.add_body("c", mass=1.0, inertia=(0.1, 0.2, 0.25), position=(1, 0, -2))
    system.add_joint(nx.Spherical("ball", system.ground, a, at=(0, 0, 0), stiffness=3.0, damping=0.1))
    system.add_joint(nx.Revolute("elbow", a, b, at=(0, 0, -1.5), axis=(0, 1, 0), damping=0.1, friction=0.2))
    system.add_joint(nx.Prismatic("slide", b, c, at=(0.5, 0, -2), axis=(1, 0, 0), stiffness=100.0, damping=1.0))
    system.add_force(nx.PointSpring("spring", "b", "ground", stiffness=20.0, damping=0.5, length=0.3, at_b=(1, 0, 0)))
    system.add_force(nx.Bushing("bushing", "a", "ground", stiffness=(1, 2, 3, 4, 5, 6), damping=(1, 1, 1, 1, 1, 1)))
    system.add_force(nx.JointForce("motor", "elbow", nx.Harmonic(0.5, 2.0)))
    return system


def four_bars(count: int = MEMBERS) -> tuple[nx.System, dict[str, Any]]:
    return mechanisms.four_bar(), {
        "v0": {"A": np.linspace(0.5, 3.0, count)}, "parameters": {"coupler.mass": np.linspace(1.0, 2.0, count)},
    }  # fmt: skip


def trees(count: int = MEMBERS) -> tuple[nx.System, dict[str, Any]]:
    return tree(), {
        "q0": {"slide": np.linspace(-0.1, 0.1, count)}, "v0": {"elbow": np.linspace(-2.0, 2.0, count)},
        "parameters": {"b.mass": np.linspace(1.0, 2.0, count), "spring.stiffness": np.linspace(0.0, 30.0, count)},
    }  # fmt: skip


def part(batch: dict[str, Any], members: list[int]) -> dict[str, Any]:
    return {what: {name: x[members] for name, x in named.items()} for what, named in batch.items()}


def alone(system: nx.System, batch: dict[str, Any], m: int, **options: Any) -> nx.Result:
    own = system.with_parameters({name: x[m] for name, x in batch["parameters"].items()})
    start = {what: {name: x[m] for name, x in batch[what].items()} for what in ("q0", "v0") if what in batch}
    return nx.simulate(own, END, nx.HHT(dt=DT), **start, **options)


@pytest.mark.parametrize("case", [four_bars, trees])
@pytest.mark.parametrize("every", [1, 7])
def test_members_agree_with_runs_of_their_own(case: Any, every: int, packs: list[list[int]]) -> None:
    system, batch = case()
    together = nx.simulate(system, END, nx.HHT(dt=DT), batch=batch, output_every=every)
    assert sorted(packs) == [list(range(LANES)), list(range(LANES, MEMBERS))]
    assert (together.members, together.failures, together.status) == (MEMBERS, {}, "finished")
    for m in range(0, MEMBERS, 5):
        mine, own = together.member(m).recording, alone(system, batch, m, output_every=every).recording
        assert mine.steps == own.steps
        assert mine.settings == own.settings  # iterations and factorisations too
        np.testing.assert_array_equal(mine.t, own.t)
        for name, tolerance in (("q", 1e-12), ("v", 1e-12)):
            x, y = getattr(mine, name), getattr(own, name)
            np.testing.assert_allclose(x, y, rtol=0.0, atol=tolerance * max(1.0, np.abs(y).max()), err_msg=name)


@pytest.mark.parametrize("case", [four_bars, trees])
def test_a_member_has_the_same_bits_in_any_batch(case: Any) -> None:
    system, batch = case()

    def bits(members: list[int], threads: int | None = None) -> list[np.ndarray]:
        run = nx.simulate(system, END, nx.HHT(dt=DT), batch=part(batch, members), threads=threads)
        assert run.failures == {}
        results = [run.member(i).recording for i in range(len(members))]
        return [np.concatenate([r.q, r.v, r.a], axis=2) for r in results]

    whole = bits(list(range(MEMBERS)))
    for members in ([0], [MEMBERS - 1], [5, 2], list(range(LANES + 1))):
        for mine, same in zip(bits(members), (whole[m] for m in members), strict=True):
            np.testing.assert_array_equal(mine, same)
    for mine, same in zip(bits(list(range(MEMBERS)), threads=1), whole, strict=True):
        np.testing.assert_array_equal(mine, same)


def test_a_member_that_fails_is_told_and_the_rest_run(packs: list[list[int]]) -> None:
    system, batch = four_bars()
    sound = nx.simulate(system, END, nx.HHT(dt=DT), batch=batch)
    batch["v0"]["A"][1], batch["v0"]["A"][4] = 4e3, np.nan
    batch["parameters"]["coupler.mass"][2] = -1.0
    packs.clear()
    result = nx.simulate(system, END, nx.HHT(dt=DT), batch=batch)
    assert list(result.failures) == [1, 2, 4]
    assert 1 in packs[0]
    with pytest.raises(SolveError) as cause:
        alone(system, batch, 1)
    assert result.failures[1] == str(cause.value)
    assert result.failure_times[1] == cause.value.time
    assert "is negative" in result.failures[2]
    others = [m for m in range(MEMBERS) if m not in result.failures]
    for m in others:
        np.testing.assert_array_equal(result.member(m).recording.q, sound.member(m).recording.q)
    assert np.isfinite(result.position("coupler").values[others]).all()


def heavy_member_falsified(part: float, monkeypatch: pytest.MonkeyPatch) -> tuple[nx.System, dict[str, Any]]:
    """Four members. Recorded velocities of one body are changed by a part in the second, whose coupler is heavy."""
    poses = BodySimulation.poses

    def falsified(self: Any, rows: np.ndarray) -> Any:
        seen = poses(self, rows)
        if self.model.mass[self.model.body_index["coupler"], 0] > 1.5:
            seen.v[:, 1] *= 1.0 + part
        return seen

    monkeypatch.setattr(BodySimulation, "poses", falsified)
    return mechanisms.four_bar(), {"v0": {"A": 3.0}, "parameters": {"coupler.mass": np.array([1.0, 2.0, 1.1, 1.2])}}


def test_a_member_in_lanes_that_has_left_its_constraints_fails_and_no_other(
    packs: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    system, batch = heavy_member_falsified(0.1, monkeypatch)
    result = nx.simulate(system, END, nx.HHT(dt=DT), batch=batch)
    assert packs == [[0, 1, 2, 3]]
    assert list(result.failures) == [1]
    assert "the motion has left its constraints: velocities miss the constraints" in result.failures[1]
    assert [result.member(m).status for m in range(4)] == ["finished", "failed", "finished", "finished"]


def test_a_member_in_lanes_that_is_far_from_its_constraints_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    system, batch = heavy_member_falsified(0.01, monkeypatch)
    with pytest.warns(nx.NexDynWarning, match="velocities miss the constraints by .* more than 0.001"):
        result = nx.simulate(system, END, nx.HHT(dt=DT), batch=batch)
    assert result.failures == {}
    assert [[notice["kind"] for notice in result.member(m).warnings] for m in range(4)] == [[], ["violation"], [], []]


def parallelogram(count: int) -> tuple[nx.System, dict[str, Any]]:
    """A loop without redundant equations, whose members turn at different speeds: it lies flat after a quarter turn."""
    system, turns = nx.System("parallelogram", gravity=(0, 0, 0)), (0, 0, 1)
    a, b, c = (
        system.add_body(name, mass=1.0, inertia=(1 / 12, 1 / 12, 1 / 12), position=at)
        for name, at in (("a", (0, 0.5, 0)), ("b", (0.5, 1, 0)), ("c", (1, 0.5, 0)))
    )
    system.add_joint(nx.Revolute("A", system.ground, a, at=(0, 0, 0), axis=turns))
    system.add_joint(nx.Revolute("B", a, b, at=(0, 1, 0), axis=turns))
    system.add_joint(nx.Spherical("C", b, c, at=(1, 1, 0)))
    system.add_joint(nx.Universal("D", system.ground, c, at=(1, 0, 0), axis=turns, reference=(1, 0, 0)))
    return system, {"v0": {"A": np.where(np.arange(count) % 2 == 0, -1.0, -3.0)}}


@pytest.mark.parametrize("every", [1, 20])
def test_members_in_lanes_that_pass_a_singular_pose_say_so_and_no_others(every: int, packs: list[list[int]]) -> None:
    """At −3 rad/s members lie flat at 0.524 s, at −1 rad/s not yet."""
    system, batch = parallelogram(5)
    with pytest.warns(nx.NexDynWarning, match=r"passes near a singular pose at t = 0\.52\d* s"):
        result = nx.simulate(system, 0.7, nx.HHT(dt=1e-3), batch=batch, output_every=every)
    assert sorted(packs) == [list(range(k, min(k + LANES, 5))) for k in range(0, 5, LANES)]
    assert result.failures == {}
    told = [[notice["kind"] for notice in result.member(m).warnings] for m in range(5)]
    assert told == [[], ["singular"], [], ["singular"], []]


def test_members_of_other_patterns_march_in_packs_of_their_own(packs: list[list[int]]) -> None:
    system, batch = trees(4)
    batch["parameters"]["elbow.friction"] = np.array([0.2, 0.0, 0.2, 0.0])
    together = nx.simulate(system, 0.02, nx.HHT(dt=DT), batch=batch)
    assert sorted(packs) == [[0, 2], [1, 3]]
    assert together.failures == {}


def test_what_cannot_march_in_lanes_runs_alone(packs: list[list[int]]) -> None:
    system = mechanisms.four_bar()
    batch = {"v0": {"A": [0.5, 1.0]}}
    system.add_force(nx.JointStop("stop", "A", stiffness=10.0, upper=0.0))
    together = nx.simulate(system, 0.01, nx.HHT(dt=DT), batch=batch)
    times = [0.0, 0.01]
    plain = mechanisms.four_bar()
    adaptive = nx.simulate(plain, 0.01, nx.HHT(), batch=batch, output_times=times)
    assert packs == []
    for run, one, options in ((together, system, {}), (adaptive, plain, {"output_times": times})):
        own = nx.simulate(one, 0.01, nx.HHT(dt=DT if not options else None), v0={"A": 1.0}, **options)
        np.testing.assert_array_equal(run.member(1).recording.q, own.recording.q)


def test_an_interrupt_keeps_what_was_reached_and_progress_does_not_go_back() -> None:
    system, batch = four_bars(3)
    told: list[float] = []
    nx.simulate(system, END, nx.HHT(dt=DT), batch=batch, progress=lambda t, end: told.append(t))
    assert told == sorted(told)

    def stop(t: float, end: float) -> None:
        raise KeyboardInterrupt

    with pytest.warns(nx.NexDynWarning, match="interrupted"):
        result = nx.simulate(system, 1e4, nx.HHT(dt=DT), batch=batch, progress=stop, output_every=10**6)
    assert result.status == "interrupted"
    assert result.failures == {}
    assert result.member(0).status == "interrupted"


def test_lanes_are_the_source_of_one_system() -> None:
    # every verb of a step is the scalar's own; what lanes add is who takes part
    from nexdyn.absolute.motion import equations, hht, newton, recorded

    for page, names in (
        (newton, ("newton_verdict", "begin", "note_refactored", "corrected", "remember")),
        (hht, ("new_motion", "predict", "accept")),
    ):
        for name in names:
            assert getattr(hht_lanes, name) is getattr(page, name)
    assert hht_lanes.recorded is recorded.recorded
    assert hht_lanes.residual_here is equations.residual_here
