"""`nx.verify_against` and `nexdyn verify --against`: what is compared with a peer's curves obeys the laws of mechanics in the peer's
conventions, and a curve that is wrong is found. Most files here are written from our tightest run in the peer's format, so that
what is wrong in them is known; the kept curves themselves are compared in `test_against_suites.py`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import nexdyn as nx
from nexdyn.cli import main
from nexdyn.problems.against import adams, dymola
from nexdyn.problems.against.case import Case, Curves, Distance, Outcome, Scene, scaled
from nexdyn.problems.against.verify import SUITES, PeerTable, cases_of
from nexdyn.problems.problem import Run
from nexdyn.spatial.rotations import rotation_matrix

CASES = adams.CASES
T = np.linspace(0.0, 2.0, 201)
SOME = (
    "Revolute_Case02",
    "Cylindrical_Case03",
    "Prismatic_Case02",
    "Universal_Case03",
    "Distance_Case03",
    "LinActuator_Case02",
)
FILES = {
    "position": "Pos", "velocity": "Vel", "acceleration": "Acc", "orientation": "Quat", "angular velocity": "Avel",
    "angular acceleration": "Aacc", "reaction force": "Rforce", "reaction torque": "Rtorque",
}  # fmt: skip


def published(folder: Path, case: Case, change: Curves | None = None) -> Path:
    """The folder, with a case's curves by our tightest run in the files of the peer."""
    below = folder / "data" / "testing" / "joints" / "some_joint"
    below.mkdir(parents=True, exist_ok=True)
    found = {**case.tightest(T), **(change or {})}
    for quantity, key in FILES.items():
        rows = "\n".join("\t".join(f"{x:+.6E}" for x in row) for row in np.column_stack([T, found[quantity]]))
        (below / f"{case.name}_ADAMS_{key}.txt").write_text(f"# {case.name}_ADAMS\n#\nTime\tX\tY\tZ\n{rows}\n")
    return folder


def inertia_of(case: Case) -> np.ndarray:
    return np.diag(case.scenes[0].build().body("body").inertia)


def test_all_cases_of_the_peer_are_there_under_all_kinds_of_formulations() -> None:
    assert len(CASES) == 28
    for case in CASES.values():
        kinds = {run.formulation.split(",")[0] for _, run in case.runs()}
        assert kinds == {"minimal coordinates", "absolute coordinates", "potential"}, case.name


KINDS = ("ABA", "CRBA", "baumgarte", "projection", "partitioning", "HHT-α", "bdf2", "rk4")


def test_bodies_without_mass_run_under_every_kind_of_formulation() -> None:
    """A link as a body, and Modelica's Fourbar1 with its own carriers, of which minimal coordinates cut one open."""
    for number in (1, 2):
        found = [run.formulation for run in CASES[f"RevSpherical_Case0{number}"].scenes[0].runs]
        assert all(any(kind in name for name in found) for kind in KINDS)
    found = [run.formulation for run in dymola.CASES["Fourbar1"].scenes[1].runs]
    assert all(any(kind in name for name in found) for kind in ("loops projected", *KINDS[2:]))


def test_the_classical_runge_kutta_method_runs_in_all_cases() -> None:
    assert all(any("rk4" in run.formulation for run in scene.runs) for case in CASES.values() for scene in case.scenes)


@pytest.mark.parametrize("name", [name for name in CASES if not name.startswith("TranSpring")])
def test_reactions_on_the_ground_obey_newton_and_euler(name: str) -> None:
    case = CASES[name]
    found = case.tightest(np.linspace(0.0, 1.0, 6))
    gravity = np.array([0.0, 0.0, -adams.G])
    force = found["reaction force"] - found.get("drive force", 0.0)
    np.testing.assert_allclose(force, adams.MASS * (gravity - found["acceleration"]), atol=2e-6)
    # moment about the joint's point o on the ground: (p − o) × m (a − g) + I α + ω × I ω = −torque on the ground
    joint = case.scenes[0].build().joint("joint")
    o = joint.frames({})[1]
    R = rotation_matrix(found["orientation"])
    I_W = R @ inertia_of(case) @ R.transpose(0, 2, 1)
    omega, alpha = found["angular velocity"], found["angular acceleration"]
    spin = np.einsum("nij,nj->ni", I_W, alpha) + np.cross(omega, np.einsum("nij,nj->ni", I_W, omega))
    moment = np.cross(found["position"] - o, adams.MASS * (found["acceleration"] - gravity)) + spin
    drive = np.cross(found["position"] - o, found["drive force"]) if "drive force" in found else 0.0
    np.testing.assert_allclose(found["reaction torque"], drive - moment, atol=2e-6)


@pytest.mark.parametrize("name", SOME)
def test_formulations_agree_with_the_tightest_run(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    found = nx.verify_against("adams", [name], curves=published(tmp_path, case))
    assert found.holds, found
    assert {o.run.formulation for o in found.outcomes} == {run.formulation for _, run in case.runs()}
    assert (
        max(d.from_peer for o in found.outcomes if o.run.tolerance < 1e-5 for d in o.distances) < 2e-6
    )  # the printed digits


def test_a_wrong_curve_fails_by_its_name(tmp_path: Path) -> None:
    case = CASES["Revolute_Case01"]
    wrong = {"reaction torque": case.tightest(T)["reaction torque"] + [0.0, 0.03, 0.0]}
    found = nx.verify_against("adams", [case.name], curves=published(tmp_path, case, wrong))
    assert not found.holds
    assert all(o.worst is not None and o.worst.quantity == "reaction torque" for o in found.outcomes)
    assert all("FAILS" in line and "reaction torque" in line for line in str(found).splitlines()[1:])


def test_a_coarse_method_fails_by_its_distance_from_the_tightest_run_alone(tmp_path: Path) -> None:
    case = CASES["Revolute_Case01"]
    reference = case.read(published(tmp_path, case))
    run = Run("coarse", nx.RungeKutta4(0.05), 1e-9)
    found = case.curves(Scene(case.scenes[0].build, (run,)), run, reference.t)
    distances = case.distances(run, found, case.tightest(reference.t), reference)
    assert all(d.from_peer < d.allowed_from_peer for d in distances)
    assert any(d.from_tightest > d.allowed_from_tightest for d in distances)


def test_the_peer_s_own_error_is_the_drift_of_its_energy(tmp_path: Path) -> None:
    case = CASES["Revolute_Case01"]
    assert case.read(published(tmp_path / "right", case)).own_error < 1e-5
    position = case.tightest(T)["position"].copy()
    position[100, 2] += 1e-2
    reference = case.read(published(tmp_path / "wrong", case, {"position": position}))
    kinetic = adams.MASS * adams.G * (0.0 - case.tightest(T)["position"][:, 2].min())
    assert reference.own_error == pytest.approx(adams.MASS * adams.G * 1e-2 / kinetic, rel=2e-2)
    assert np.isnan(CASES["RotSpring_Case01"].read(published(tmp_path, CASES["RotSpring_Case01"])).own_error)


def test_orientations_are_compared_up_to_their_sign() -> None:
    q = np.array([[1.0, 0, 0, 0], [0.6, 0.8, 0, 0]])
    assert scaled("orientation", -q, q, q) == 0.0
    assert scaled("position", -q, q, q) == 2.0


def test_the_command_prints_three_columns_and_says_whether_all_hold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = CASES["Prismatic_Case01"]
    folder = published(tmp_path, case)
    assert main(["verify", case.name, "--against", "adams", "--curves", str(folder)]) == 0
    head, *lines, last = capsys.readouterr().out.splitlines()
    assert ["from peer" in head, "from tightest" in head, "peer's own error" in head] == [True] * 3
    assert len(lines) == len(case.runs())
    assert last == f"{len(lines)} runs, all hold"
    assert main(["verify", case.name, "--against", "adams", "--curves", str(folder), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["holds"] is True
    assert {q["quantity"] for q in document["runs"][0]["quantities"]} == set(FILES)
    wrong = {"velocity": case.tightest(T)["velocity"] + 0.1}
    published(tmp_path, case, wrong)
    assert main(["verify", case.name, "--against", "adams", "--curves", str(folder), "--all"]) == 3
    out = capsys.readouterr().out
    assert len(out.splitlines()) == 2 + len(FILES) * len(case.runs())
    assert "9 runs, 9 of them do not hold" in out


@pytest.mark.parametrize("suite", SUITES)
def test_the_table_of_a_suite_fits_a_narrow_terminal(suite: str) -> None:
    """Two lines a run, of 80 columns at most; one line where there is room, and in a pipe."""
    cases = cases_of(suite)
    narrow, wide = PeerTable(cases, 80), PeerTable(cases, 250)
    distance = Distance("angular acceleration", "rad/s²", 1e-5, 2e-5, 3e-6, 1.0, 1.0)
    for outcome in (Outcome(case, run, (distance,), 123.45) for case in cases for _, run in case.runs()):
        lines = narrow.line(outcome).split("\n")
        assert len(lines) == 2 and max(map(len, lines)) <= 80
        assert wide.line(outcome) == PeerTable(cases).line(outcome) and "\n" not in wide.line(outcome)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--against", "adms"], "did you mean 'adams'?"),
        (["Revolute_Case1", "--against", "adams"], "did you mean 'Revolute_Case01'"),
        (
            ["Revolute_Case01", "--against", "adams", "--curves", "."],
            "git clone --depth 1 https://github.com/projectchrono/chrono",
        ),
        (["--against", "adams", "--curves", "nowhere"], "no folder 'nowhere'"),
        (["--curves", "chrono"], "--against adams --curves chrono"),
    ],
)
def test_what_is_missing_is_said_with_what_to_type(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", *words]) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.out == ""


def test_a_folder_without_the_curves_is_refused(tmp_path: Path) -> None:
    with pytest.raises(nx.InputError, match=r"no Revolute_Case01_ADAMS_\*\.txt below"):
        nx.verify_against("adams", ["Revolute_Case01"], curves=tmp_path)
