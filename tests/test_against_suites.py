"""`nexdyn verify --against dymola | exudyn | recurdyn | adams`: every case has kept curves with their origin, what runs quickly agrees with
them under every formulation, and descriptions from peers' parameters obey the laws of mechanics."""

from __future__ import annotations

import importlib.util
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import nexdyn as nx
from nexdyn.cli import main
from nexdyn.problems.against import dymola, exudyn_live, exudyn_models, modelica_models, recurdyn
from nexdyn.problems.against.case import Scene, unit_of
from nexdyn.problems.against.exudyn_poses import pose_of
from nexdyn.problems.against.kept import DATA, origin_of, path_of, read_curves, write_curves
from nexdyn.problems.against.modelica_energy import energy_drift
from nexdyn.problems.against.modelica_parts import DENSITY, Parts
from nexdyn.problems.against.verify import SUITES

ROOT = Path(__file__).resolve().parents[1]
ALL = [(suite, name) for suite, cases in SUITES.items() for name in cases]
FAST = ["Pendulum", "Test.Universal"]
"""Of Dymola's, under every formulation."""
TIGHT = ["ObjectJointRevoluteZ", "kinematicTreeTest", "bricardMechanism", "rollingCoinTest"]
"""Of Exudyn's, by the tightest run."""
SHORT = 0.5
"""The beginning of a motion [s] that is compared in all cases."""
SAMPLE = [(suite, name, k) for suite, cases in SUITES.items() for k, name in enumerate(cases)]
PEERS = {
    "adams": "Adams; github.com/",
    "dymola": "Dymola 2020x; ",
    "exudyn": "Exudyn 1.11.0; ",
    "recurdyn": "RecurDyn; github.com/",
}


def test_suites_have_the_cases_that_are_promised() -> None:
    assert {suite: len(cases) for suite, cases in SUITES.items()} == {
        "adams": 28,
        "dymola": 52,
        "exudyn": 35,
        "recurdyn": 1,
    }


@pytest.mark.parametrize(("suite", "name"), ALL)
def test_every_case_has_kept_curves_with_their_origin(suite: str, name: str) -> None:
    assert origin_of(suite, name).startswith(PEERS[suite])
    reference = SUITES[suite][name].read(None)
    assert np.all(np.diff(reference.t) > 0)
    assert reference.curves
    for quantity, values in reference.curves.items():
        assert np.all(np.isfinite(values)), quantity
        assert unit_of(quantity)


def test_what_is_kept_is_small_and_all_of_it_is_used() -> None:
    files = [path for path in DATA.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 1_000_000
    cases = {path_of(suite, name) for suite, name in ALL}
    assert {path.with_suffix(".csv") for path in files} == cases


@pytest.mark.parametrize("name", FAST)
def test_formulations_agree_with_the_peer_and_the_tightest_run(name: str) -> None:
    found = nx.verify_against("dymola", [name])
    assert found.holds, found
    assert {o.run.formulation for o in found.outcomes} == {run.formulation for _, run in SUITES["dymola"][name].runs()}


@pytest.mark.filterwarnings("ignore:body .* principal moments")  # as the examples have them
@pytest.mark.parametrize(("suite", "name", "k"), SAMPLE)
def test_every_case_begins_as_the_peer_s_curves_do_under_one_formulation(suite: str, name: str, k: int) -> None:
    """By one formulation a case, another from one case to the next. `nexdyn verify --against` runs all."""
    case = SUITES[suite][name]
    scene, run = case.runs()[k % len(case.runs())]
    whole = case.read(None)
    until = max(2, int(np.searchsorted(whole.t, SHORT)))
    peer = replace(whole, t=whole.t[:until], curves={q: x[:until] for q, x in whole.curves.items()})
    found = case.curves(scene, run, peer.t)
    for distance in case.distances(run, found, found, peer):
        assert distance.from_peer <= distance.allowed_from_peer, (run.formulation, distance)


@pytest.mark.parametrize("name", TIGHT)
def test_the_tightest_run_is_as_far_from_exudyn_as_exudyn_s_own_error(name: str) -> None:
    case = SUITES["exudyn"][name]
    reference = case.read(None)
    found = case.tightest(reference.t)
    worst = max(d.from_peer for d in case.distances(case.tight, found, found, reference))
    assert worst < 1.1 * reference.own_error + 1e-7  # the tolerance of the run


def test_the_links_of_recurdyn_keep_their_lengths_and_ours_agree_with_them() -> None:
    case = recurdyn.CASES[recurdyn.NAME]
    reference = case.read(None)
    np.testing.assert_allclose(np.linalg.norm(reference.curves["link1 position"], axis=1), 0.5, atol=1e-7)
    found = case.tightest(reference.t)
    worst = max(d.from_peer for d in case.distances(case.tight, found, found, reference) if "position" in d.quantity)
    assert worst < reference.own_error


def test_every_quantity_of_exudyn_has_its_own_error() -> None:
    for case in SUITES["exudyn"].values():
        reference = case.read(None)
        assert set(reference.own_errors) == set(reference.curves), case.name
        assert max(reference.own_errors.values()) == reference.own_error


def test_the_energy_of_our_own_curves_changes_by_what_dampers_take() -> None:
    t = np.linspace(0.0, 1.0, 1001)
    for name in ("Pendulum", "UniversalConstraint"):  # a damper; a spring
        case = SUITES["dymola"][name]
        curves = dict(case.tightest(t))
        build = next(build for path, (_, build) in dymola.MODELS.items() if dymola.name_of(path) == name)
        assert energy_drift(build(), t, curves) < 1e-9
        faster = {q: x * (1.001 if "velocity" in q else 1.0) for q, x in curves.items()}
        assert 0.9 < energy_drift(build(), t, faster) / (1.001**2 - 1) < 1.5  # of T, and of what the damper took
        del curves[next(q for q in curves if q.endswith("angle"))]
        assert np.isnan(energy_drift(build(), t, curves))


def test_a_chaotic_case_is_compared_until_the_peer_s_change_of_energy_has_grown_to_the_limit() -> None:
    case = SUITES["dymola"]["DoublePendulumInitTip"]
    reference = case.read(None)
    tight, drift = case.tightest(reference.t), reference.own_error
    assert dymola.ENERGY < drift < 3 * dymola.ENERGY  # at the end
    apart = []
    for joint in (0, 1):
        angles = modelica_models.tip_angles() + np.eye(2)[joint] * dymola.ENERGY
        scene = Scene(lambda angles=angles: modelica_models.double(*angles.tolist()).system(), ())
        found = case.curves(scene, case.tight, reference.t)
        apart.append(
            [np.abs(found[q] - tight[q])[:, 0] / max(1.0, np.abs(x).max()) for q, x in reference.curves.items()]
        )
    growth = np.max(apart, axis=(0, 1))
    first = reference.t[np.flatnonzero(growth > case.limit)[0]]
    assert case.until == pytest.approx(first - np.diff(reference.t)[0])
    assert growth[-1] > 10 * case.limit


@pytest.mark.filterwarnings("ignore:body 'link body1'. principal moments")  # of Spring2, as the example has them
def test_constraint_forces_are_left_out_where_the_algorithm_refuses_a_massless_link_and_nowhere_else() -> None:
    for path, (_, build) in dymola.MODELS.items():
        if path in dymola.LOOPS:
            continue
        tree = nx.Tree(build().system())
        runs = any("constraint forces" in run.formulation for run in dymola.runs_of(path))
        try:
            tree.cfa(tree.described(), np.zeros(tree.nv), np.zeros(tree.nv))
        except nx.InputError:
            assert not runs, path
        else:
            assert runs, path


def test_satellites_stay_on_their_circles() -> None:
    case = SUITES["exudyn"]["connectorGravityTest"]
    t = np.linspace(0.0, 1e5, 11)
    found = case.tightest(t)
    for number, radius in ((2, 2e5), (4, 4e5), (6, 8e5), (8, 10e5)):
        angle = np.sqrt(6.6743e-11 * 1e20 / radius**3) * t
        circle = radius * np.column_stack([np.cos(angle), np.sin(angle), np.zeros(len(t))])
        np.testing.assert_allclose(found[f"MassPoint {number} position"], circle, atol=1e-8 * radius)


@pytest.mark.parametrize("suite", SUITES)
def test_the_page_shows_every_case_with_all_its_runs_and_a_picture(suite: str) -> None:
    page = (ROOT / "docs" / "against.md").read_text(encoding="utf-8")
    _, _, rest = page.partition(f"<!-- {suite} -->")
    table, _, _ = rest.partition(f"<!-- end of {suite} -->")
    shown = dict(re.findall(r"^\| (.+: .+?) \| (\d+)", table, re.MULTILINE))
    assert shown == {f"{name}: {case.title}": str(len(case.runs())) for name, case in SUITES[suite].items()}
    assert f"figures/peers-{suite}.svg" in page
    assert (ROOT / "docs" / "figures" / f"peers-{suite}.svg").stat().st_size > 10_000


def test_curves_come_back_as_they_were_written(tmp_path: Path) -> None:
    t, curves = (
        np.array([0.0, 0.5, 1.0]),
        {"a position": np.array([[0.0, 1, 2], [3, 4, 5], [6, 7, 8.5]]), "b angle": np.ones((3, 1))},
    )
    write_curves(tmp_path / "case.csv", {"origin": "a peer, its test", "own error": "1e-3"}, t, curves)
    said, again_t, again = read_curves(tmp_path / "case.csv")
    assert said == {"origin": "a peer, its test", "own error": "1e-3"}
    np.testing.assert_array_equal(again_t, t)
    assert list(again) == list(curves)
    for name, values in curves.items():
        np.testing.assert_array_equal(again[name], values)


def test_the_peer_s_own_error_is_what_finer_steps_change() -> None:
    t = np.linspace(0.0, 1.0, 5)

    def record(h: float) -> dict[str, object]:
        return {
            "t": t.tolist(),
            "curves": {"1 Position": (np.sin(t) + h**2)[:, None].tolist()},
            "items": {"objects": [{}, {"objectType": "MassPoint"}]},
        }

    found = exudyn_live.reference_of(record(0.1), record(0.1 / 8))
    assert found.own_error == pytest.approx(0.1**2 - (0.1 / 8) ** 2, rel=1e-9)
    assert found.own_errors == {"MassPoint 1 position": found.own_error}
    assert list(found.curves) == ["MassPoint 1 position"]


@pytest.mark.parametrize("kind", ["RigidBodyEP", "RigidBodyRxyz", "RigidBodyRotVecLG"])
def test_the_velocity_of_a_node_is_the_rate_of_its_pose(kind: str) -> None:
    rng = np.random.default_rng(3)
    rotation = rng.normal(size=4 if kind == "RigidBodyEP" else 3) * 0.4
    rate = rng.normal(size=len(rotation))
    if kind == "RigidBodyEP":
        rotation /= np.linalg.norm(rotation)
        rate -= rotation * (rotation @ rate)
    if kind == "RigidBodyRotVecLG":
        rotation = np.zeros(3)  # where the rates of a rotation vector are the angular velocity

    def at(h: float) -> dict[str, object]:
        q = [1.0, 2.0, 3.0, *(rotation + h * rate)]
        return {"nodeType": kind, "referenceCoordinates": q, "initialVelocities": [0.0, 0.0, 0.0, *rate]}

    h = 1e-6
    pose, after, before = pose_of(at(0.0)), pose_of(at(h)), pose_of(at(-h))
    spin = (after.R - before.R) / (2 * h) @ pose.R.T
    np.testing.assert_allclose(pose.omega, [spin[2, 1], spin[0, 2], spin[1, 0]], atol=1e-8)


def test_parts_on_a_link_have_the_mass_and_inertia_of_the_whole() -> None:
    m = Parts("bar")
    end = m.box(m.revolute("link", m.world), (0.3, 0, 0), 0.1)
    m.box(end, (0.7, 0, 0), 0.1)
    body = m.system().body("link")
    mass = DENSITY * 0.1 * 0.1
    assert body.mass == pytest.approx(mass)
    np.testing.assert_allclose(body.com, (0.5, 0, 0), atol=1e-12)
    over = mass / 12 * (1 + 0.1**2)
    np.testing.assert_allclose(
        np.asarray(body.inertia, float).reshape(3, 3), np.diag([mass / 6 * 0.1**2, over, over]), rtol=1e-12, atol=1e-12
    )


def test_columns_of_vectors_are_found_by_their_names() -> None:
    m = Parts("free")
    m.watch("body", m.free("link"))
    header = [
        "time",
        "body.r_0[1]",
        "body.r_0[2]",
        "body.r_0[3]",
        "body.v_rel_a_1",
        "body.v_rel_a_2",
        "body.v_rel_a_3",
        "body.Q[1]",
    ]
    assert dymola.signals_of(header, m.signals) == {"body position": [1, 2, 3], "body velocity": [4, 5, 6]}


def test_parameters_of_exudyn_s_models_are_kept_with_their_origin() -> None:
    for model in exudyn_models.MODELS:
        kept = json.loads((DATA / "exudyn" / f"{model.name}.json").read_text(encoding="utf-8"))
        assert kept["origin"].endswith(model.file)
        assert kept["items"]["objects"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--against", "dymolla"], "did you mean 'dymola'?"),
        (["FourBar2", "--against", "dymola"], "did you mean 'Fourbar2'"),
        (
            ["Pendulum", "--against", "dymola", "--curves", "."],
            "git clone --depth 1 --branch v4.0.0 https://github.com/modelica/",
        ),
        (["--against", "exudyn", "--curves", "."], "git clone --depth 1 https://github.com/jgerstmayr/EXUDYN"),
        (["--against", "recurdyn", "--curves", "."], "git clone --depth 1 https://github.com/W-Moorer/NexDynIPC"),
    ],
)
def test_what_is_missing_is_said_with_what_to_type(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["verify", *words]) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.out == ""


def test_a_peer_that_is_not_installed_is_said_with_what_to_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = tmp_path / exudyn_live.MODELS
    models.mkdir(parents=True)
    (models / "bricardMechanism.py").write_text("")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(
        nx.InputError, match=r"Exudyn is not installed: `pip install exudyn==1\.11\.0`, or leave out --curves"
    ):
        nx.verify_against("exudyn", ["bricardMechanism"], curves=tmp_path)
