"""The command line: what it does, what it says, and the code it ends with; signals and pipes: test_cli_process.py."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, get_args

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nexdyn as nx
from nexdyn.cli import assignments, demos, info, main, run
from nexdyn.cli.app import EXAMPLES, app
from nexdyn.cli.jsons import to_json
from nexdyn.integrate.methods import METHODS

ROOT = Path(__file__).parents[1]
ROBOT = """<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0 0 0.2"/><mass value="2"/>
    <inertia ixx="0.03" iyy="0.03" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial>{visual}</link>
  <joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/></joint>
</robot>"""
BLOW_UP = """
bodies: {ball: {mass: 1.0, inertia: [1, 1, 1]}}
joints: {slide: {type: prismatic, parent: ground, child: ball, stiffness: 1e9, q0: 1.0}}
simulation: {t_end: 5, method: {type: euler, dt: 1e-2}}
"""


class Answer(NamedTuple):
    """What a command line gave."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> dict:
        return json.loads(self.out)


Nexdyn = Callable[..., Answer]


@pytest.fixture
def nexdyn(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Nexdyn:
    """Runs a command line in an empty folder: nexdyn("run hinge-chain")."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NEXDYN_DEBUG", raising=False)

    def call(line: str) -> Answer:
        code = main(shlex.split(line))
        return Answer(code, *capsys.readouterr())

    return call


# --- demos and info -------------------------------------------------------------------------------------------------


def test_demos_are_listed_a_line_each(nexdyn: Nexdyn) -> None:
    answer = nexdyn("demos")
    assert answer.code == 0 and not answer.err
    assert [line.split()[0] for line in answer.out.splitlines()] == list(nx.demos())
    assert [demo["name"] for demo in nexdyn("demos --json").data["demos"]] == list(nx.demos())


def test_info_tells_bodies_joints_coordinates_and_masses(nexdyn: Nexdyn) -> None:
    data = nexdyn("info hinge-chain --json").data
    assert (data["nq"], data["nv"], data["mass"]) == (6, 6, 6.0)
    assert [body["name"] for body in data["bodies"]] == [f"link{i}" for i in range(1, 7)]
    assert data["joints"][1] | {"limits": None} == {
        "name": "hinge2", "kind": "revolute", "parent": "link1", "child": "link2", "q": [1, 2], "v": [1, 2],
        "limits": None, "mimics": None,
    }  # fmt: skip
    text = nexdyn("info hinge-chain").out
    assert "nq = 6, nv = 6; mass 6 kg" in text and re.search(r"hinge2 +revolute +link1 → link2 +1", text)


def test_info_of_a_robot_with_a_free_base_shows_its_floating_joint(nexdyn: Nexdyn, tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(ROBOT.format(visual=""))
    assert nexdyn("info arm.urdf --json").data["nq"] == 1
    data = nexdyn("info arm.urdf --base free --json").data
    assert (data["nq"], data["nv"]) == (8, 7)
    assert sorted(joint["kind"] for joint in data["joints"]) == ["free", "revolute"]


TREES = {"bouncing-ball", "double-pendulum", "hinge-chain", "implicit-euler", "space-robot"}
DEMOS = {path.stem for path in (Path(nx.__file__).parent / "demos").glob("*.yaml")}


@pytest.mark.parametrize("demo", sorted(DEMOS - TREES))
def test_info_of_a_mechanism_with_loops_tells_its_spanning_tree(nexdyn: Nexdyn, demo: str) -> None:
    data = nexdyn(f"info {demo} --json").data
    moving = [joint for joint in data["joints"] if joint["v"]]
    assert data["constraint_equations"] > 0 and sum(b - a for a, b in (joint["v"] for joint in moving)) == data["nv"]
    assert not {joint["name"] for joint in moving} & set(data["cut"])
    assert "constraint equations" in nexdyn(f"info {demo}").out


def test_info_takes_other_parameters(nexdyn: Nexdyn) -> None:
    assert nexdyn("info hinge-chain --set m=2 --set link1.mass=0.5 --json").data["mass"] == 10.5


# --- run ------------------------------------------------------------------------------------------------------------


def test_a_run_writes_its_result_and_prints_a_summary(nexdyn: Nexdyn, tmp_path: Path) -> None:
    answer = nexdyn("run double-pendulum --t-end 0.1")
    assert answer.code == 0
    for part in ("double pendulum", "100", "RungeKutta4(dt=0.001)", "drift", "hinge1", "double-pendulum.nc"):
        assert part in answer.out
    result = nx.open_result(tmp_path / "double-pendulum.nc")
    assert result.recording.t[-1] == pytest.approx(0.1, abs=1e-12) and result.status == "finished"


def test_json_is_one_object_whose_floats_carry_a_point(nexdyn: Nexdyn) -> None:
    answer = nexdyn("run double-pendulum --t-end 0.1 --json")
    data = answer.data
    assert (data["status"], data["steps"], data["t_start"]) == ("finished", 100, 0.0)
    assert data["energy_drift"] < 1e-9
    assert data["files_written"] == ["double-pendulum.nc"]
    assert '"t_start": 0.0' in answer.out and "NaN" not in answer.out


def test_quiet_says_nothing_and_writes(nexdyn: Nexdyn, tmp_path: Path) -> None:
    assert nexdyn("run double-pendulum --t-end 0.01 --quiet --out a.nc --csv a.csv") == (0, "", "")
    assert {path.name for path in tmp_path.iterdir()} == {"a.nc", "a.csv"}
    assert (tmp_path / "a.csv").read_text().startswith("time [s],")


def test_options_beat_the_scene(nexdyn: Nexdyn, tmp_path: Path) -> None:
    line = "run hinge-chain --t-end 0.02 --dt 2e-3 --output-every 5 --method euler --dynamics crba --json"
    data = nexdyn(line).data
    assert (data["method"], data["steps"], data["samples"]) == ("ExplicitEuler(dt=0.002)", 10, 3)


def test_numbers_may_carry_units(nexdyn: Nexdyn, tmp_path: Path) -> None:
    plain = nexdyn(
        "run hinge-chain --t-end 0.004 --dt 0.002 --q0 hinge1=1.5707963267948966 --v0 hinge1=6.283185307179586 --json"
    ).data
    units = nexdyn("run hinge-chain --t-end 4ms --dt 2000us --q0 hinge1=90deg --v0 hinge1=60rpm --json").data
    for key in ("method", "t_end", "steps"):
        assert units[key] == plain[key]
    assert units["energy_start"] == pytest.approx(plain["energy_start"], rel=1e-12)
    answer = nexdyn("run hinge-chain --dt 1kg")
    assert answer.code == 2 and "'1kg' is no time; seconds are needed, like 0.001 or 1ms" in answer.err
    answer = nexdyn("run hinge-chain --q0 hinge1=90kg")
    assert answer.code == 2 and "--q0 hinge1 is '90kg'; the units known here are rad, deg" in answer.err
    for option, told in {
        "--q0 hinge1=1m": "--q0 hinge1 is '1m'; the units known here are rad, deg, °, rev",
        "--v0 hinge1=1mm/s": "--v0 hinge1 is '1mm/s'; the units known here are rad/s, deg/s, °/s, rev/s, rpm",
        "--q0 hinge1=1,2": "q0 of joint 'hinge1' has 2 numbers; 1 number is needed\n",
        "--method RK4": 'Did you mean "rk4"?',
    }.items():
        answer = nexdyn(f"run hinge-chain {option}")
        assert answer.code == 2 and told in answer.err, option


def test_a_scene_is_run_as_it_says(nexdyn: Nexdyn, tmp_path: Path) -> None:
    (tmp_path / "fall.yaml").write_text(
        "bodies: {ball: {mass: 1.0, inertia: [1, 1, 1]}}\n"
        "simulation: {t_end: 0.5, method: {type: dopri5}, output_times: [0.1, 0.25, 0.4]}"
    )
    assert nexdyn("run fall.yaml --json").code == 0
    assert nx.open_result(tmp_path / "fall.nc").recording.t[:3] == pytest.approx([0.1, 0.25, 0.4])
    answer = nexdyn("run fall.yaml --method rk4 --json")
    assert answer.data["samples"] == 4
    assert nx.open_result(tmp_path / "fall.nc").recording.t == pytest.approx([0.1, 0.25, 0.4, 0.5])
    assert nexdyn("run fall.yaml --t-end 0.3 --rtol 1e-4 --json").data["t_end"] == 0.3


def test_a_robot_runs_one_second_with_rk4_unless_told_otherwise(nexdyn: Nexdyn, tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(ROBOT.format(visual=""))
    data = nexdyn("run arm.urdf --json").data
    assert (data["method"], data["t_end"]) == ("RungeKutta4(dt=0.001)", 1.0)


def test_q0_v0_and_set_reach_the_run(nexdyn: Nexdyn, tmp_path: Path) -> None:
    line = "run double-pendulum --t-end 0.001 --q0 hinge1=pi/4 --q0 hinge2=-start --v0 hinge1=2 --set L=0.5 --quiet"
    assert nexdyn(line).code == 0
    result = nx.open_result(tmp_path / "double-pendulum.nc")
    assert result.recording.q[0] == pytest.approx([np.pi / 4, -np.pi / 2])
    assert result.recording.v[0] == pytest.approx([2.0, 0.0])
    assert result.system.values["L"] == 0.5


@pytest.mark.parametrize(
    "line", ["run half.nc --t-end 0.1 --out b.nc", "run hinge-chain --from half.nc --t-end 0.1 --out b.nc"]
)
def test_a_run_goes_on_from_a_result(nexdyn: Nexdyn, tmp_path: Path, line: str) -> None:
    assert nexdyn("run hinge-chain --t-end 0.1 --out whole.nc --quiet").code == 0
    assert nexdyn("run hinge-chain --t-end 0.05 --out half.nc --quiet").code == 0
    assert nexdyn(line).code == 0
    whole, rest = (nx.open_result(tmp_path / name).recording for name in ("whole.nc", "b.nc"))
    assert rest.t[0] == pytest.approx(0.05) and rest.t[-1] == pytest.approx(0.1)
    np.testing.assert_allclose(rest.q[-1], whole.q[-1], atol=1e-13)
    assert "give a --t-end beyond" in nexdyn("run half.nc --t-end 0.05 --out c.nc").err


@pytest.mark.parametrize("options", ["--method semi-implicit", "--method implicit-euler --bdf2"])
def test_a_result_goes_on_by_the_method_that_made_it_to_the_bit(nexdyn: Nexdyn, tmp_path: Path, options: str) -> None:
    run = f"run double-pendulum {options} --dt 0.0009765625 --quiet"
    assert nexdyn(f"{run} --t-end 0.25 --out whole.nc").code == 0
    assert nexdyn(f"{run} --t-end 0.125 --out half.nc").code == 0
    assert nexdyn("run half.nc --t-end 0.25 --out b.nc --quiet").code == 0
    whole, rest = (nx.open_result(tmp_path / name).recording for name in ("whole.nc", "b.nc"))
    assert rest.method == whole.method
    assert np.array_equal(rest.q[-1], whole.q[-1])
    assert np.array_equal(rest.v[-1], whole.v[-1])


def test_a_result_of_another_mechanism_is_no_start(nexdyn: Nexdyn, tmp_path: Path) -> None:
    pendulum = (
        "bodies: {{ball: {{mass: 1, position: [0, 0, -1]}}}}\n"
        "joints: {{{}: {{type: revolute, parent: ground, child: ball, at: [0, 0, 0], axis: [1, 0, 0]}}}}"
    )
    for name in ("pin", "hook"):
        (tmp_path / f"{name}.yaml").write_text(pendulum.format(name))
    assert nexdyn("run pin.yaml --t-end 0.01 --quiet").code == 0
    answer = nexdyn("run hook.yaml --from pin.nc --t-end 0.1")
    assert answer.code == 2 and "the joints pin; the model has hook" in answer.err
    assert nexdyn("run hinge-chain --from pin.nc --t-end 0.1").code == 2


def test_a_missing_mesh_is_a_warning_and_the_run_goes_on(nexdyn: Nexdyn, tmp_path: Path) -> None:
    visual = '<visual><geometry><mesh filename="nowhere/arm.stl"/></geometry></visual>'
    (tmp_path / "arm.urdf").write_text(ROBOT.format(visual=visual))
    answer = nexdyn("run arm.urdf --t-end 0.01 --json")
    assert answer.code == 0 and answer.data["status"] == "finished"
    assert "warning:" in answer.err and "arm.stl" in answer.err


def test_a_run_that_blows_up_ends_with_3_and_keeps_what_was_reached(nexdyn: Nexdyn, tmp_path: Path) -> None:
    (tmp_path / "blow.yaml").write_text(BLOW_UP)
    answer = nexdyn("run blow.yaml")
    assert answer.code == 3 and not answer.out
    assert "no longer finite" in answer.err and "'slide' (body 'ball')" in answer.err and "is in blow.nc" in answer.err
    kept = nx.open_result(tmp_path / "blow.nc")
    assert kept.status == "failed" and np.isfinite(kept.recording.q).all()
    error = nexdyn("run blow.yaml --json")
    assert error.code == 3 and not error.err
    assert error.data["error"]["files_written"] == ["blow.nc"]
    assert error.data["error"]["where"] == "ball" and error.data["error"]["time"] > 0.0


# --- bad input ------------------------------------------------------------------------------------------------------

BAD = [
    ("", "run", "needs a MODEL"),
    ("", "run ''", "MODEL is empty"),
    ("", "run hinge-chian", "did you mean 'hinge-chain'"),
    ("", "hinge-chian --t-end 2", "Did you mean: nexdyn run hinge-chain --t-end 2"),
    ("", "rnu hinge-chain", 'Did you mean "run"?'),
    ("", "run hinge-chain --tend 2", "Did you mean --t-end?"),
    ("", "run hinge-chain --t-end", "--t-end needs a value"),
    ("", "run hinge-chain --t-end soon", "soon"),
    ("", "run hinge-chain double-pendulum", "takes no further argument 'double-pendulum'"),
    ("", "run hinge-chain --method rk5", 'Did you mean "rk4"?'),
    ("", "run hinge-chain --t-end 0", "--t-end is 0"),
    ("", "run hinge-chain --t-end nan", "--t-end is nan"),
    ("", "run hinge-chain --dt 0", "dt of RungeKutta4 is 0"),
    ("", "run hinge-chain --dt -1e-3", "dt of RungeKutta4 is -0.001"),
    ("", "run hinge-chain --rtol 1e-6", "--rtol is for dopri5"),
    ("", "run hinge-chain --method dopri5 --dt 1e-3", "--dt is for rk4"),
    ("", "run hinge-chain --output-every 0", "output_every is 0"),
    ("", "run hinge-chain --dt 1e-300", "--output-every"),
    ("", "run hinge-chain --t-end 1e300 --dt 1e-300", "--output-every"),
    ("", "run hinge-chain --set Q=1", "no parameter or attribute 'Q'"),
    ("", "run hinge-chain --set hinge1.dampin=1", "did you mean 'damping'"),
    ("", "run hinge-chain --set L", "NAME=VALUE"),
    ("", "run hinge-chain --set m=-1", "body 'link1'"),
    ("", "run hinge-chain --set m=nan", "nan"),
    ("", "run hinge-chain --set 'm=2*)'", "2*)"),
    ("", "run hinge-chain --q0 hing1=1", "did you mean 'hinge1'"),
    ("", "run hinge-chain --q0 hinge1=1,2", "hinge1"),
    ("", "run hinge-chain --v0 hinge1=fast", "fast"),
    ("", "run hinge-chain --base free", "is a scene"),
    ("", "run hinge-chain --from nowhere.nc", "nowhere.nc"),
    ("", "run nowhere.nc", "nowhere.nc"),
    ("", "run hinge-chain --out nowhere/a.nc", "no folder 'nowhere'"),
    ("", "run hinge-chain --out .", "is a folder"),
    ("", "run hinge-chain --out a.txt", "must end in .nc"),
    ("", "run hinge-chain --csv a.nc", "must end in .csv"),
    ("", "run hinge-chain --out /dev/null", "no ordinary file"),
    ("", "run hinge-chain --out /proc/a.nc", "cannot be written to"),
    ("", "info nowhere.urdf", "no such file"),
    ("bodies:\n  a: {mass: 1}\n  b: [1\n", "run model.yaml", "model.yaml:4:1"),
    ("bodies: {a: {mas: 1}}", "run model.yaml", "model.yaml:1:14: unknown key 'mas'"),
    ("bodies: {a: {mass: 1}}\nsimulation: {method: {type: rk4, dt: 0}}", "run model.yaml", "model.yaml:2"),
    ("not a model", "run model.txt", "unknown kind of file"),
    ("<robot name='r'><link name='a'></robot>", "run model.urdf", "model.urdf:1"),
]


@pytest.mark.parametrize(("content", "line", "message"), BAD, ids=[line for _, line, _ in BAD])
def test_bad_input_ends_with_2_says_why_and_writes_nothing(
    nexdyn: Nexdyn, tmp_path: Path, content: str, line: str, message: str
) -> None:
    if content:
        (tmp_path / shlex.split(line)[1]).write_text(content)
    before = set(tmp_path.iterdir())
    answer = nexdyn(line)
    assert answer.code == 2
    assert answer.out == ""
    assert message in answer.err and answer.err.startswith("error: ") and "Traceback" not in answer.err
    error = nexdyn(f"{line} --json") if not line.startswith(("hinge", "rnu")) and line[-5:] != "t-end" else None
    if error:
        assert error.code == 2 and error.err == ""
        assert message in error.data["error"]["message"] and error.data["error"]["exit_code"] == 2
    assert set(tmp_path.iterdir()) == before


def test_errors_of_files_carry_their_place_in_json(nexdyn: Nexdyn, tmp_path: Path) -> None:
    (tmp_path / "model.yaml").write_text("bodies:\n  a: {mas: 1}\n")
    error = nexdyn("run model.yaml --json").data["error"]
    assert (error["type"], error["file"], error["line"], error["column"]) == ("FileError", "model.yaml", 2, 7)


def test_a_run_replaces_nothing_that_it_reads(nexdyn: Nexdyn, tmp_path: Path) -> None:
    assert nexdyn("run double-pendulum --t-end 0.01 --out a.nc --quiet").code == 0
    before = (tmp_path / "a.nc").read_bytes()
    for line in ("run a.nc --t-end 1", "run double-pendulum --from a.nc --out a.nc", "run a.nc --t-end 1 --out ./a.nc"):
        answer = nexdyn(line)
        assert answer.code == 2 and "would replace" in answer.err
    assert (tmp_path / "a.nc").read_bytes() == before


def test_the_unexpected_is_one_short_message_and_a_traceback_only_on_demand(
    nexdyn: Nexdyn, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise RuntimeError("the sky fell\nand more")

    monkeypatch.setattr("nexdyn.io.loader.demos", fail)
    answer = nexdyn("demos")
    assert answer.code == 1 and "RuntimeError: the sky fell" in answer.err and "--debug" in answer.err
    assert "Traceback" not in answer.err and len(answer.err.splitlines()) == 2
    assert nexdyn("demos --json").data["error"]["type"] == "RuntimeError"
    assert "Traceback" in nexdyn("demos --debug").err
    monkeypatch.setenv("NEXDYN_DEBUG", "1")
    assert "Traceback" in nexdyn("demos").err


def test_an_interrupt_before_the_first_step_writes_nothing(
    nexdyn: Nexdyn, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def press(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("nexdyn.cli.run.prepare", press)
    answer = nexdyn("run hinge-chain")
    assert answer.code == 130 and "nothing was written" in answer.err and not list(tmp_path.iterdir())
    assert nexdyn("run hinge-chain --json").data["error"]["type"] == "Interrupted"


# --- help -----------------------------------------------------------------------------------------------------------


def commands_in(text: str) -> list[str]:
    """The lines that call nexdyn, without the remarks and pipes behind them."""
    found = re.findall(r"^ *(?:\$ )?nexdyn (.*)$", text, re.MULTILINE)
    return [re.split(r"  +|  *#| \| | > ", line.strip())[0] for line in found]


PAGES = [path.read_text(encoding="utf-8") for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))]
PAGES += [EXAMPLES, *(page.EXAMPLES for page in (run, info, demos))]


@pytest.mark.parametrize("line", sorted({line for page in PAGES for line in commands_in(page)}))
def test_every_example_of_help_and_docs_is_a_command_line_that_is_understood(line: str) -> None:
    command, *_ = app.parse_args(shlex.split(line), exit_on_error=False, print_error=False)
    assert callable(command)


COMMANDS = sorted(name for name in app if not name.startswith("-") and name != "prepare")


@pytest.mark.parametrize("command", ["", *(f"{name} " for name in COMMANDS)])
def test_help_teaches_by_example_within_80_columns(nexdyn: Nexdyn, command: str) -> None:
    answer = nexdyn(f"{command}--help")
    assert answer.code == 0 and not answer.err
    head, _, examples = answer.out.partition("Examples:")
    assert "Usage: nexdyn" in head and ("completion " in command or commands_in(examples))
    assert max(map(len, answer.out.splitlines())) <= 80
    assert "\x1b" not in answer.out
    page = sys.modules[f"nexdyn.cli.{command.strip() or 'app'}"]
    written = [
        line
        for text in vars(page).values()
        if isinstance(text, str) and "Examples:" in text
        for line in text.split("\n")
    ]
    assert written and not [line for line in written if line not in answer.out.splitlines()]  # none is broken in two


def test_every_command_is_among_those_whose_help_is_tested() -> None:
    pages = {
        "check",
        "compare",
        "completion",
        "convert",
        "demos",
        "edit",
        "equilibrium",
        "info",
        "linearize",
        "plot",
        "run",
        "sweep",
        "warm",
    }
    assert set(COMMANDS) == pages | {"verify", "view"}


def test_no_arguments_give_help_and_version_gives_the_version(nexdyn: Nexdyn) -> None:
    assert "Usage: nexdyn" in nexdyn("").out
    assert nexdyn("--version") == (0, f"nexdyn {nx.__version__}\n", "")


def test_all_methods_can_be_chosen() -> None:
    assert set(get_args(run.MethodName)) == set(METHODS)


# --- JSON and assignments -------------------------------------------------------------------------------------------

json_data = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(json_data)
def test_json_reads_back_as_it_was_in_ascii(data: object) -> None:
    text = to_json(data)
    back = json.loads(text)
    assert back == data and to_json(back) == text
    assert text.isascii()


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_a_float_in_json_carries_a_point_and_is_never_nan(x: float) -> None:
    assert "." in to_json(x) if np.isfinite(x) else to_json(x) == "null"


def test_arrays_become_lists() -> None:
    assert to_json({"x": np.array([1.0, np.nan, 1e22]), "n": np.int64(3)}) == (
        '{\n  "x": [1.0, null, 1.0e+22],\n  "n": 3\n}'
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("L=0.5", 0.5),
        ("L=1e-3", 1e-3),
        ("L=2*pi", "=2*pi"),
        ("L==2*m", "=2*m"),
        ("L=m", "=m"),
        ("L=pi", "=pi"),
        ("push.frame=world", "world"),
        ("gravity=0,0,-1.62", [0, 0, -1.62]),
        ("gravity=[0, 0, -m]", [0, 0, "=-m"]),
        ("joint.limits=[[-1, 1], [0, pi/2]]", [[-1, 1], [0, "=pi/2"]]),
        ("L=max(m, 1)", "=max(m, 1)"),
    ],
)
def test_set_takes_numbers_lists_words_and_expressions(text: str, value: object) -> None:
    system = nx.System()
    system.parameter("m", 1.0)
    assert list(assignments.changes([text], system).values()) == [value]


# --- plot -----------------------------------------------------------------------------------------------------------


def test_plot_writes_a_figure_named_after_the_result(nexdyn: Nexdyn, tmp_path: Path) -> None:
    assert nexdyn("run double-pendulum --t-end 0.1 --quiet").code == 0
    answer = nexdyn("plot double-pendulum.nc")
    assert answer.code == 0 and answer.out == "written  double-pendulum.png\n" and not answer.err
    assert (tmp_path / "double-pendulum.png").read_bytes().startswith(b"\x89PNG")
    answer = nexdyn("plot double-pendulum.nc reaction phase --of hinge1 --of hinge2 --out a.svg --json")
    assert answer.data == {"files_written": ["a.svg"]}
    assert "<svg" in (tmp_path / "a.svg").read_text()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("plot hinge-chain", "nexdyn run hinge-chain && nexdyn plot hinge-chain.nc"),
        ("plot x", "x: no such file; in the same folder is 'dp.nc'; nexdyn run MODEL writes a result"),
        ("plot dq.nc", "dq.nc: no such file; did you mean 'dp.nc'?"),
        ("plot dp.nc enrgy", "no plot 'enrgy'; did you mean 'energy'? plots: energy, joint_position"),
        ("plot dp.nc reaction --of hing1", "no joint 'hing1'; did you mean 'hinge1'? joints: hinge1, hinge2"),
        ("plot dp.nc --out a.jpg", "--out a.jpg must end in .png or .svg or .pdf, like a.png"),
        ("plot dp.nc --out .", "--out . is a folder; give a file, like run.png"),
        ("plot dp.nc --ot a.png", "Unknown option: --ot. Did you mean --out?"),
        ("plot", "plot needs a RESULT."),
    ],
)
def test_what_plot_cannot_do_is_said_and_nothing_is_written(
    nexdyn: Nexdyn, tmp_path: Path, line: str, message: str
) -> None:
    assert nexdyn("run double-pendulum --t-end 0.01 --quiet --out dp.nc").code == 0
    answer = nexdyn(line)
    assert answer.code == 2 and message in answer.err and not answer.out
    assert [path.name for path in tmp_path.iterdir()] == ["dp.nc"]


# --- completion -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_that_knows_every_command(nexdyn: Nexdyn, shell: str) -> None:
    answer = nexdyn(f"completion {shell}")
    assert answer.code == 0 and not answer.err
    commands = [name for name in app if not name.startswith("-")]
    assert {"run", "plot", "convert"} <= set(commands) and all(name in answer.out for name in commands)


def test_completion_is_of_the_users_shell(nexdyn: Nexdyn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/usr/bin/fish")
    assert nexdyn("completion").out == nexdyn("completion fish").out
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    answer = nexdyn("completion")
    assert answer.code == 2 and "$SHELL is tcsh; name one of bash, zsh, fish" in answer.err


# --- results that cannot be looked at -------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["plot dp.nc", "info dp.nc", "convert dp.nc dp.yaml", "run dp.nc --out a.nc"])
def test_a_result_that_is_cut_short_or_of_a_newer_version_is_refused(
    nexdyn: Nexdyn, tmp_path: Path, command: str
) -> None:
    assert nexdyn("run double-pendulum --t-end 0.01 --quiet --out dp.nc").code == 0
    whole = (tmp_path / "dp.nc").read_bytes()
    (tmp_path / "dp.nc").write_bytes(whole[: len(whole) // 2])
    answer = nexdyn(command)
    assert answer.code == 2 and "dp.nc: is damaged or cut short" in answer.err
    (tmp_path / "dp.nc").write_bytes(b"")
    assert "dp.nc: is empty" in nexdyn(command).err
    (tmp_path / "dp.nc").write_bytes(whole)
    with h5py.File(tmp_path / "dp.nc", "r+") as file:
        file.attrs["nexdyn_schema"], file.attrs["source"] = 99, "NexDyn 9.9"
    answer = nexdyn(command)
    assert answer.code == 2 and "was written by NexDyn 9.9 in layout 99; this NexDyn" in answer.err
    assert "upgrade it" in answer.err
    assert [path.name for path in tmp_path.iterdir()] == ["dp.nc"]


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("simulate hinge-chain", r"Did you mean: nexdyn run MODEL"), ("help", r"Did you mean: nexdyn --help"),
        ("-v", r"Did you mean: nexdyn --version"), ("run hinge-chain --time 1", r"--time. Did you mean --t-end 1s\?"),
        ("compare hinge-chain --duration 1", r"Did you mean --t-end 1s\?"), ("run hinge-chain --step 0.1", r"Did you mean --dt 1ms\?"),
        ("check four-bar --gravity 0,0,0", r"Did you mean --set gravity=0,0,-9.81\?"),
        ("run hinge-chain -o x.nc", r"Did you mean --out FILE\?"), ("list", "Did you mean: nexdyn demos"),
        ("RUN hinge-chain", "Did you mean: nexdyn run\n"),
        ("help run", "Did you mean: nexdyn run --help"), ("--verison", "Did you mean: nexdyn --version"),
        ("check four-bar --q0 crank=1", r"Did you mean --set JOINT.q0=VALUE\?"), ("export a b", "Did you mean: nexdyn convert"),
        ("run hinge-chain --out a.csv", r"--out a\.csv is the result, netCDF; --csv a\.csv writes a table"),
    ],
)  # fmt: skip
def test_names_of_other_programs_are_answered_with_ours(nexdyn: Nexdyn, line: str, meant: str) -> None:
    answer = nexdyn(line)
    assert answer.code == 2 and re.search(meant, answer.err), answer.err


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("run hinge-chain --port 9000", "--port is of a page in the browser; add --view"),
        ("run hinge-chain --host 0.0.0.0", "--host is of a page in the browser; add --view"),
        ("linearize bicycle --language zh", "--language is of a page in the browser; add --view"),
        ("linearize bicycle --mode 1", "--mode is of a mode that is played; add --view"),
        ("linearize bicycle --sweep speed=4:6:3 --input steer", "leave --input out"),
        ("linearize bicycle --sweep speed=4:6:3 --modes 4", "leave --modes out"),
        ("view hinge-chain --html a.html --port 9000", "--port is of a page in the browser; leave --html"),
    ],
)
def test_an_option_of_what_is_not_done_is_refused(nexdyn: Nexdyn, line: str, told: str) -> None:
    answer = nexdyn(line)
    assert answer.code == 2 and told in " ".join(answer.err.split()), answer.err


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("run hinge-chain --set L=30cm", "--set L is '30cm'; write 0.3, in SI units (m, kg, s, rad)"),
        ("run hinge-chain --set gravity=0,0,-9810mm", "--set gravity is '-9810mm'; write -9.81, in SI units"),
        ("info hinge-chain --set start=2pi", "--set start is '2pi'; write 2*pi"),
        ("info hinge-chain --set hinge1.q0=1m", "--set hinge1.q0 is '1m'; the units known here are rad, deg, °, rev"),
        ("run hinge-chain --output-every 2.5", "--output-every: '2.5' is no whole number, like 10"),
        ("linearize bicycle --mode 1.5", "--mode: '1.5' is no whole number"),
        ("sweep study.yaml --jobs 1.5", "--jobs: '1.5' is no whole number"),
        ("view hinge-chain --port 80.5", "--port: '80.5' is no whole number"),
        ("compare hinge-chain rk4:dt=1kg", "'1kg' in 'rk4:dt=1kg' is no number; like rk4:dt=1e-3 or rk4:dt=1ms"),
        ("compare hinge-chain dopri5:rtol=1ms", "'1ms' in 'dopri5:rtol=1ms' is no number"),
        ("equilibrium four-bar --t 1kg", "'1kg' is no time"),
        ("run hinge-chain --mu big", "Invalid value for --mu: 'big' is no number."),
        ("run https://example.org/robot.urdf", "robot.urdf: addresses are not read; download the file"),
    ],
)
def test_a_number_in_other_units_or_with_a_fraction_is_named_with_what_to_write(
    nexdyn: Nexdyn, line: str, told: str
) -> None:
    answer = nexdyn(line)
    assert answer.code == 2 and told in " ".join(answer.err.split()), answer.err


def test_units_are_understood_wherever_the_quantity_is_known(nexdyn: Nexdyn) -> None:
    plain = nexdyn("compare hinge-chain rk4:dt=0.002 --t-end 0.01 --json").data
    units = nexdyn("compare hinge-chain rk4:dt=2ms --t-end 10ms --json").data
    assert units["methods"] == plain["methods"]
    start = [
        nexdyn(f"run hinge-chain --t-end 2ms --set hinge1.q0={x} --json").data["energy_start"]
        for x in ("pi/2", "90deg")
    ]
    assert start[0] == pytest.approx(start[1], rel=1e-12)
    assert nexdyn("run hinge-chain --t-end 20ms --output-every 1e1 --json").data["samples"] == 3


def test_a_study_with_several_errors_reports_all_with_their_lines(nexdyn: Nexdyn, tmp_path: Path) -> None:
    (tmp_path / "wrong.yaml").write_text("model: hinge-chain\ntend: 0.1\nmethod: rk5\nparameter: {L: [1, 2]}\n")
    err = " ".join(nexdyn("sweep wrong.yaml").err.split())
    for told in (
        "wrong.yaml: 5 errors", "wrong.yaml:2:1: no key 'tend'; did you mean 't_end'", "wrong.yaml:3:9: no method 'rk5'",
        "wrong.yaml:4:1: no key 'parameter'; did you mean 'parameters'", "has no 'parameters'", "has no 'measure'",
    ):  # fmt: skip
        assert told in err


def test_a_scene_is_no_study_and_a_result_no_model(nexdyn: Nexdyn, tmp_path: Path) -> None:
    scene = tmp_path / "ok.yaml"
    nx.save_scene(nx.load("hinge-chain"), scene)
    assert "is a scene; a study names it, like model: ok.yaml" in nexdyn(f"sweep {scene}").err
    result = tmp_path / "run.nc"
    nx.simulate(nx.load("hinge-chain"), 0.01).save(result)
    with pytest.raises(nx.NexDynError, match=r"run\.nc: is a result; nx\.open_result reads it"):
        nx.load(result)
    with pytest.raises(nx.NexDynError) as caught:
        nx.open_result(result).save(tmp_path / "nowhere" / "run.nc")
    assert str(caught.value).count("cannot be written") == 1
