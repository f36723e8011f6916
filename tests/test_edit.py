"""`nexdyn edit`: what a save puts on the page, what a file that is broken leaves there, and the command as a process."""

from __future__ import annotations

import functools
import html
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chromium import browser, comes_true, needs_chromium, on_a_free_port, opened  # noqa: F401 (fixtures)
from test_cli_process import NEXDYN, hear_signals, posix

import nexdyn as nx
from nexdyn.cli.edit import Watch, write_numbers
from nexdyn.cli.model import read
from nexdyn.cli.options import READING_PLAINLY
from nexdyn.cli.view import _offer_writing
from nexdyn.errors import FileError
from nexdyn.io.scene import Scene, read_scene_text
from nexdyn.spatial.rotations import rotation_matrix
from nexdyn.view.changes import MOST, changes
from nexdyn.view.editing import Editing
from nexdyn.view.server import LOOPBACK, free_port
from nexdyn.view.viewer import Viewer

pytestmark = pytest.mark.timeout(900)
LIMIT = 240.0

PENDULUM = """\
name: pendulum
parameters: {L: 0.5}
bodies:
  bob: {mass: 2.0, inertia: [0.1, 0.1, 0.1], position: [=L, 0, 0], shapes: [{type: sphere, radius: 0.05}]}
joints:
  hinge: {type: revolute, parent: ground, child: bob, at: [0, 0, 0], axis: [0, 1, 0]}
simulation: {t_end: 0.2, method: {type: rk4, dt: 1.0e-3}}
"""


def with_joint(line: str) -> str:
    return PENDULUM.replace("simulation:", f"  {line}\nsimulation:")


TWICE = with_joint("again: {type: revolute, parent: ground, child: bob, at: [0, 1, 0], axis: [0, 1, 0]}")
"""A second hinge on the same line: five of its rows repeat those of the first."""


def scene(text: str) -> nx.System:
    return read_scene_text(text).system


@pytest.fixture
def page() -> Iterator[Viewer]:
    with on_a_free_port(scene(PENDULUM)) as found:
        yield found


def told(viewer: Viewer) -> str:
    content: str = viewer._desk.controls._told.content
    return html.unescape(re.sub("<[^>]+>", "\n", content))


# --- what has changed -----------------------------------------------------------------------------------------------


def test_changes_are_told_by_element_and_attribute() -> None:
    before = scene(PENDULUM)
    assert changes(before, scene(PENDULUM)) == []
    other = PENDULUM.replace("mass: 2.0", "mass: 3.0").replace("L: 0.5", "L: 0.75").replace("pendulum", "clock", 1)
    assert changes(before, scene(other)) == [
        'name "pendulum" → "clock"',
        "parameter L 0.5 → 0.75",
        "body bob: mass 2.0 → 3.0",
    ]
    assert changes(before, scene(TWICE)) == ["new joint again"]
    assert changes(scene(TWICE), before) == ["joint again is gone"]
    assert changes(before, scene(PENDULUM.replace("axis: [0, 1, 0]", "axis: [0, 1, 0], damping: 0.1"))) == [
        "joint hinge: damping … → 0.1"
    ]


def test_of_many_changes_the_rest_is_counted() -> None:
    names = [f"L{k}" for k in range(MOST + 3)]
    before, after = ({name: float(value) for name in names} for value in (1, 2))
    systems = []
    for values in (before, after):
        system = nx.System("many")
        for name, value in values.items():
            system.parameter(name, value)
        systems.append(system)
    lines = changes(*systems)
    assert len(lines) == MOST + 1 and lines[-1] == "and 3 more"


# --- the page -------------------------------------------------------------------------------------------------------


def test_the_page_follows_the_file_and_keeps_the_last_that_could_be_read(page: Viewer) -> None:
    editing = Editing(page)
    first = scene(PENDULUM)
    assert editing.show(first, nx.assemble(first)) == []
    assert "1 body, 1 joint, 1 degree of freedom" in told(page) and page.system is first
    page.select("joint:hinge")

    heavier = scene(PENDULUM.replace("mass: 2.0", "mass: 3.0"))
    assert editing.show(heavier, nx.assemble(heavier)) == ["body bob: mass 2.0 → 3.0"]
    assert "body bob: mass 2.0 → 3.0" in told(page) and page.system is heavier and page.selected == "joint:hinge"

    with pytest.raises(FileError) as broken:
        scene(PENDULUM.replace("mass: 2.0", "mas: 2.0"))
    editing.refuse(broken.value)
    assert ":4:9: unknown key 'mas' in body 'bob'; did you mean 'mass'?" in told(page)
    assert page.system is heavier and "1 degree of freedom" in told(page)

    renamed = scene(PENDULUM.replace("hinge:", "pin:").replace("bob", "weight"))
    editing.show(renamed, nx.assemble(renamed))
    assert page.selected == "" and "weight" in page._desk.inquiry._tree.content
    assert page._desk.controls._follow.options == ("(nothing)", "weight") and [
        s.label for s in page._desk.controls._sliders
    ] == ["pin [rad]"]


def test_redundant_joints_are_marked_until_they_are_not(page: Viewer) -> None:
    editing, twice, once = Editing(page), scene(TWICE), scene(PENDULUM)
    report = nx.assemble(twice)
    assert len(report.redundancy.redundant) == 5
    editing.show(twice, report)
    assert told(page).count("is redundant: it depends on hinge") == 5 and "redundant" in page._desk.stage.carried
    editing.show(once, nx.assemble(once))
    assert "redundant" not in told(page) and "redundant" not in page._desk.stage.carried


def test_a_mechanism_that_cannot_close_is_shown_as_it_is_described(page: Viewer) -> None:
    open_ = scene(with_joint("rod: {type: rod, parent: ground, child: bob, anchor_a: [3, 0, 0], length: 0.1}"))
    with pytest.raises(nx.AssemblyError) as error:
        nx.assemble(open_)
    Editing(page).show(open_, error.value)
    assert "rod" in told(page) and "open" in told(page) and page.system is open_


def test_a_run_is_laid_over_the_one_before(page: Viewer) -> None:
    editing = Editing(page)
    ends = []
    for mass in (2.0, 3.0):
        system = scene(PENDULUM.replace("mass: 2.0", f"mass: {mass}"))
        editing.show(system, nx.assemble(system))
        result = nx.simulate(system, 0.2, nx.RungeKutta4(1e-3))
        editing.ran(result, None)
        ends.append(result)
        assert page._desk.motion.result is result
    assert page._desk.ghost is not None and page._desk.ghost.result is ends[0]
    other = scene(PENDULUM.replace("bob", "weight"))
    editing.show(other, nx.assemble(other))
    assert page._desk.ghost is None  # of other bodies


def test_a_pose_of_the_sliders_goes_into_the_file(page: Viewer, tmp_path: Path) -> None:
    file = tmp_path / "pendulum.yaml"
    file.write_text(f"# mine\n{PENDULUM}")
    editing = Editing(page, functools.partial(write_numbers, file))
    system = scene(file.read_text())
    editing.show(system, nx.assemble(system))
    editing.write_pose()  # nothing was moved
    assert file.read_text() == f"# mine\n{PENDULUM}"
    (dial,) = page._desk.controls._dials
    page._desk.controls.put(dial, 0.5)
    editing.write_pose()
    assert file.read_text() == f"# mine\n{PENDULUM}".replace("axis: [0, 1, 0]}", "axis: [0, 1, 0], q0: 0.5}")
    system = scene(file.read_text())
    assert editing.show(system, nx.assemble(system)) == ["joint hinge: q0 … → 0.5"]
    assert page._desk.controls._sliders[0].value == pytest.approx(0.5) and page._desk.controls.moved == {}
    file.write_text("bodies: {}\n")
    page._desk.controls.put(page._desk.controls._dials[0], 0.7)
    editing.write_pose()
    assert "there is no joints.hinge to put q0 into" in told(page) and file.read_text() == "bodies: {}\n"


def test_the_state_of_a_system_that_runs_goes_into_the_file(page: Viewer, tmp_path: Path) -> None:
    file = tmp_path / "pendulum.yaml"
    file.write_text(f"# mine\n{PENDULUM}")
    editing = Editing(page, functools.partial(write_numbers, file))
    session = nx.Session(scene(PENDULUM), nx.RungeKutta4(1e-3))
    session.change({"L": 0.6})
    session.change({"gravity": (0.0, 0.0, -5.0)})
    session.advance(0.1)
    editing.write_state(session)
    text = file.read_text()
    assert text.startswith("# mine\n") and "parameters: {L: 0.6}" in text
    system, now = scene(text), session.latest()
    assert system.gravity.tolist() == [0.0, 0.0, -5.0]
    start = nx.simulate(system, 1e-3, nx.RungeKutta4(1e-3))
    assert start.joint_position("hinge").values[0] == pytest.approx(now.joint_position("hinge").values[0], rel=1e-11)
    assert start.joint_velocity("hinge").values[0] == pytest.approx(now.joint_velocity("hinge").values[0], rel=1e-11)


FOUR_BAR = """\
name: four-bar
gravity: [0, 0, -9.81]
bodies:
  crank: {mass: 1.0, inertia: [0.01, 0.01, 0.01], position: [0, 0, 0.5]}
  coupler: {mass: 2.0, inertia: [0.1, 0.1, 0.1], position: [0.5, 0, 1]}
  rocker: {mass: 1.0, inertia: [0.02, 0.02, 0.02], position: [1, 0, 0.5]}
joints:
  A: {type: revolute, parent: ground, child: crank, at: [0, 0, 0], axis: [0, 1, 0]}
  B: {type: revolute, parent: crank, child: coupler, at: [0, 0, 1], axis: [0, 1, 0]}
  C: {type: revolute, parent: coupler, child: rocker, at: [1, 0, 1], axis: [0, 1, 0]}
  D: {type: revolute, parent: ground, child: rocker, at: [1, 0, 0], axis: [0, 1, 0]}
"""


@pytest.mark.parametrize("before", ["", ", q0: 0.2"])
def test_the_state_of_a_loop_goes_into_the_file_by_the_joint_that_leads_it(
    page: Viewer, tmp_path: Path, before: str
) -> None:
    """Of four hinges one determines the others; one that the file gives a start to is written, too, for it would stay as it was."""
    text = FOUR_BAR.replace("at: [1, 0, 0], axis: [0, 1, 0]}", f"at: [1, 0, 0], axis: [0, 1, 0]{before}}}")
    file = tmp_path / "four-bar.yaml"
    file.write_text(text)
    editing = Editing(page, functools.partial(write_numbers, file))
    editing.show(scene(text), nx.assemble(scene(text)))
    session = nx.Session(scene(text), nx.HHT(dt=1e-3))
    session.advance(0.3)
    session.grab("coupler")
    session.pull((1.2, 0.0, 0.6))
    session.advance(0.3)
    session.release()
    session.advance(0.2)
    editing.write_state(session)
    written = file.read_text()
    assert written.count("q0:") == written.count("v0:") == (2 if before else 1)
    now, again = session.latest(), nx.assemble(scene(written))
    moved = max(abs(float(now.joint_position(name).values[0])) for name in "ABCD")
    assert moved > 0.2 and np.abs(now.velocity().values).max() > 0.05
    for name in ("crank", "coupler", "rocker"):
        np.testing.assert_allclose(again.position(name), now.position(name).values[0], atol=1e-9)
        np.testing.assert_allclose(again.velocity(name), now.velocity(name).values[0], atol=1e-8)


def test_a_state_that_the_file_cannot_lead_to_is_refused(page: Viewer, tmp_path: Path) -> None:
    """A driver begins anew at t = 0, and what it has moved since cannot be written."""
    text = f"{FOUR_BAR}drivers:\n  motor: {{type: joint, joint: A, function: =0.5*t}}\n"
    file = tmp_path / "driven.yaml"
    file.write_text(text)
    editing = Editing(page, functools.partial(write_numbers, file))
    session = nx.Session(scene(text), nx.HHT(dt=1e-3))
    session.advance(0.5)
    with pytest.raises(nx.InputError, match="do not lead to this state from the pose that the file describes"):
        editing.write_state(session)
    assert file.read_text() == text


SPRING = (
    "forces:\n  spring: {type: point_spring, a: ground, b: bob, anchor_a: [0, 0, 1], stiffness: 2.0, length: 1.0}\n"
)


@pytest.mark.parametrize("command", ["edit", "view --live"])
def test_a_state_with_other_switches_than_the_files_is_refused(page: Viewer, tmp_path: Path, command: str) -> None:
    """A scene cannot tell that a force is off: written without a word, the motion would go on as another one."""
    file = tmp_path / "pendulum.yaml"
    text = f"{PENDULUM}{SPRING}"
    file.write_text(text)
    if command == "edit":
        Editing(page, functools.partial(write_numbers, file)).show(scene(text), nx.assemble(scene(text)))
    else:
        offer_writing(page, file)
    write_state = page._desk.writes_state
    assert write_state is not None
    session = nx.Session(scene(text), nx.RungeKutta4(1e-3))
    session.advance(0.01)
    session.switch("spring", False)
    with pytest.raises(nx.InputError, match="spring: switched otherwise than in the file"):
        write_state(session)
    session.restart()  # keeps the switch
    with pytest.raises(nx.InputError, match="spring: switched otherwise than in the file"):
        write_state(session)
    assert file.read_text() == text
    session.switch("spring", True)
    session.advance(0.01)
    write_state(session)
    assert "q0" in file.read_text()


# --- starts that a simulation gives ---------------------------------------------------------------------------------


def offer_writing(viewer: Viewer, file: Path) -> None:
    """What `nexdyn view --live` offers of a scene."""
    _offer_writing(viewer, read(str(file), READING_PLAINLY), file, READING_PLAINLY)


def written_and_read(viewer: Viewer, session: nx.Session, file: Path) -> Scene:
    """The scene after the state of a session was put into its file; a run of it begins in that state."""
    assert viewer._desk.writes_state is not None
    viewer._desk.writes_state(session)
    found = read_scene_text(file.read_text())
    starts: Any = {key: found.simulation.get(key) for key in ("q0", "v0")}
    again, now = nx.Session(found.system, session.method, **starts).latest(), session.latest()
    for body in found.system.bodies:
        np.testing.assert_allclose(again.position(body).values[0], now.position(body).values[0], atol=1e-9)
        R = [rotation_matrix(result.orientation(body).values[0]) for result in (again, now)]
        np.testing.assert_allclose(*R, atol=1e-9)
        np.testing.assert_allclose(again.velocity(body).values[0], now.velocity(body).values[0], atol=1e-8)
        np.testing.assert_allclose(
            again.angular_velocity(body).values[0], now.angular_velocity(body).values[0], atol=1e-8
        )
    return found


def test_a_state_goes_where_the_simulation_says_how_a_joint_starts(page: Viewer, tmp_path: Path) -> None:
    """What a simulation says is read in place of q0 and v0 of the joint, which would have no effect."""
    file = tmp_path / "pendulum.yaml"
    file.write_text(PENDULUM.replace("1.0e-3}", "1.0e-3}, q0: {hinge: 0.3}"))
    offer_writing(page, file)
    first = read_scene_text(file.read_text())
    session = nx.Session(first.system, nx.RungeKutta4(1e-3), q0=first.simulation["q0"])
    session.advance(0.2)
    found = written_and_read(page, session, file)
    assert list(found.simulation["q0"]) == ["hinge"] and "v0" not in found.simulation
    assert found.system.joints["hinge"].q0 is None and found.system.joints["hinge"].v0 is not None
    assert abs(found.simulation["q0"]["hinge"][0] - 0.3) > 1e-2


def test_a_pose_of_the_sliders_goes_also_where_the_simulation_says_how_a_joint_starts(
    page: Viewer, tmp_path: Path
) -> None:
    file = tmp_path / "pendulum.yaml"
    file.write_text(PENDULUM.replace("1.0e-3}", "1.0e-3}, q0: {hinge: 0.3}"))
    editing, first = Editing(page, functools.partial(write_numbers, file)), read_scene_text(file.read_text())
    editing.show(first.system, nx.assemble(first.system), first.simulation)
    page._desk.controls.put(page._desk.controls._dials[0], 0.5)
    editing.write_pose()
    found = read_scene_text(file.read_text())
    assert found.simulation["q0"] == {"hinge": [0.5]} and found.system.joints["hinge"].q0 == 0.5


@pytest.mark.parametrize("joint", ["A", "C"])
def test_in_loops_a_joint_that_the_simulation_starts_is_written_there(page: Viewer, tmp_path: Path, joint: str) -> None:
    """Else it would stay where it was, and contradict the one that leads the loop."""
    file = tmp_path / "four-bar.yaml"
    file.write_text(f"{FOUR_BAR}simulation:\n  q0: {{{joint}: 0.2}}\n  v0:\n    {joint}: 0.0\n")
    offer_writing(page, file)
    session = nx.Session(scene(FOUR_BAR), nx.HHT(dt=1e-3), q0={joint: 0.2}, v0={joint: 0.0})
    session.advance(0.3)
    found = written_and_read(page, session, file)
    assert list(found.simulation["q0"]) == list(found.simulation["v0"]) == [joint]
    assert found.system.joints[joint].q0 is None


STONE = "  stone: {mass: 1.0, inertia: [0.1, 0.2, 0.3], position: [0, 3, 0], com: [0.1, 0, 0]}\n"


@pytest.mark.parametrize("section", ["", "simulation: {}\n", "simulation: {t_end: 0.2}\n", "simulation:\n  v0: {}\n"])
@pytest.mark.parametrize("loop", [False, True])
def test_the_state_of_a_body_without_a_joint_goes_into_the_simulation(
    page: Viewer, tmp_path: Path, loop: bool, section: str
) -> None:
    """It was left out without a word where there are no loops, and refused where there are some."""
    text = FOUR_BAR if loop else "".join(line for line in PENDULUM.splitlines(True) if "simulation" not in line)
    file = tmp_path / "stone.yaml"
    file.write_text(text.replace("joints:\n", f"{STONE}joints:\n", 1) + section)
    offer_writing(page, file)
    first = scene(file.read_text())
    start = {"q0": {"stone": [1, 0, 0, 0, 0, 3, 0]}, "v0": {"stone": [1.0, 2.0, 3.0, 0.5, 0.0, 0.1]}}
    session = nx.Session(first, nx.HHT(dt=1e-3) if loop else nx.RungeKutta4(1e-3), **start)
    for _ in range(2):  # the second time there is one already
        session.advance(0.1)
        found = written_and_read(page, session, file)
        assert list(found.simulation["q0"]) == list(found.simulation["v0"]) == ["stone"]


VEHICLE = """\
name: vehicle
gravity: [0, 0, -9.81]
bodies:
  car: {mass: 10.0, inertia: [1, 2, 3], position: [0, 0, 1]}
  front: {mass: 1.0, inertia: [0.1, 0.1, 0.1], position: [1, 0, 1]}
  rear: {mass: 1.0, inertia: [0.1, 0.1, 0.1], position: [-1, 0, 1]}
joints:
  base: {type: free, parent: ground, child: car, v0: [0.1, 9.0, 0.3, 3.0, 0.0, 2.0]}
  axle1: {type: revolute, parent: car, child: front, at: [1, 0, 1], axis: [0, 1, 0], v0: 2.0}
  axle2: {type: revolute, parent: car, child: rear, at: [-1, 0, 1], axis: [0, 1, 0], v0: 1.0}
couplings:
  belt: {type: sum, terms: {axle1: 1.0, axle2: -2.0}}
"""


def test_the_state_of_a_tree_with_couplings_is_written_of_all_joints(page: Viewer, tmp_path: Path) -> None:
    """Of free and spherical joints, too, which have no angles: without them what stands on one never led back to its state."""
    file = tmp_path / "vehicle.yaml"
    file.write_text(VEHICLE)
    offer_writing(page, file)
    session = nx.Session(scene(VEHICLE), nx.HHT(dt=1e-3))
    session.advance(0.4)  # it turns by more than half a turn
    assert np.linalg.norm(session.latest().position("car").values[0] - [0.0, 0.0, 1.0]) > 1.0
    joints = written_and_read(page, session, file).system.joints
    assert all(joints[name].q0 is not None for name in ("base", "axle1", "axle2"))


def test_in_loops_the_joint_that_cannot_be_written_is_named(page: Viewer, tmp_path: Path) -> None:
    text = FOUR_BAR.replace(
        "joints:\n",
        "  bob: {mass: 1.0, inertia: [0.1, 0.1, 0.1], position: [0.5, 0.3, 0.5]}\n"
        "joints:\n  ball: {type: spherical, parent: coupler, child: bob, at: [0.5, 0, 1]}\n",
    )
    file = tmp_path / "ball.yaml"
    file.write_text(text)
    offer_writing(page, file)
    session = nx.Session(scene(text), nx.HHT(dt=1e-3))
    session.advance(0.3)
    assert page._desk.writes_state is not None
    with pytest.raises(nx.InputError, match=r"angles and lengths, and not for joint 'ball' \(spherical\)"):
        page._desk.writes_state(session)
    assert file.read_text() == text


def test_the_camera_goes_into_the_file_and_is_where_the_page_looks_from(page: Viewer, tmp_path: Path) -> None:
    file = tmp_path / "pendulum.yaml"
    file.write_text(f"# mine\n{PENDULUM}")
    editing = Editing(page, functools.partial(write_numbers, file))
    for eye in ([1.0, 2.0, 3.0], [3.0, 2.0, 1.0]):
        editing.write_camera(np.array(eye), np.array([0.0, 0.0, 0.5]))
        found = read_scene_text(file.read_text())
        assert found.view == {"eye": tuple(eye), "target": (0.0, 0.0, 0.5)}
        assert file.read_text().count("view:") == 1
        np.testing.assert_allclose(page._desk.stage.camera().eye, eye)
        editing.show(found.system, nx.assemble(found.system))
        np.testing.assert_allclose(page._desk.stage.camera().eye, eye)
    with pytest.raises(nx.InputError, match="two different points"):
        page.look_from((0, 0, 0), (0, 0, 0))


@needs_chromium
def test_the_browser_shows_what_is_wrong_and_what_is_new(browser: object, page: Viewer) -> None:  # noqa: F811
    editing, first = Editing(page), scene(PENDULUM)
    editing.show(first, nx.assemble(first))
    with opened(browser, page.address) as tab:
        comes_true(lambda: page.watched)
        tab.until("document.body.innerText.includes('1 body, 1 joint, 1 degree of freedom')")
        with pytest.raises(FileError) as broken:
            scene(PENDULUM.replace("mass: 2.0", "mas: 2.0"))
        editing.refuse(broken.value)
        tab.until("document.body.innerText.includes(\"did you mean 'mass'\")")
        twice = scene(TWICE)
        editing.show(twice, nx.assemble(twice))
        tab.until("document.body.innerText.includes('new joint again')")
        tab.until('!document.body.innerText.includes("did you mean")')
        tab.until("Object.keys(window.__viserSceneTree.getState()).includes('/motion/redundant')")
        assert tab.faults == []


# --- the command ----------------------------------------------------------------------------------------------------


def test_a_file_has_changed_once_it_is_there_and_whole(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("a")
    watch = Watch(file)
    assert not watch.differs()
    file.unlink()
    assert not watch.differs()  # an editor is about to put another there
    file.write_text("bc")
    assert watch.differs()
    watch.take_up()
    assert not watch.differs()

    other = tmp_path / "b"
    other.write_text("de")
    os.replace(other, file)  # of the same size
    assert watch.differs()
    done = threading.Event()

    def write() -> None:
        for n in range(5):
            file.write_text("x" * n)
            time.sleep(0.01)
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    watch.take_up()
    writer.join()
    assert done.is_set() and file.read_text() == "xxxx"


@contextmanager
def editing_process(file: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """`nexdyn edit`, and the lines that it has said so far."""
    line = [*NEXDYN, "edit", str(file), *arguments, "--no-browser", "--port", str(free_port(LOOPBACK, 19_300))]
    with subprocess.Popen(line, stderr=subprocess.PIPE, text=True, preexec_fn=hear_signals) as process:
        said: list[str] = []

        def listen() -> None:
            assert process.stderr is not None
            for text in process.stderr:
                said.append(text)

        listener = threading.Thread(target=listen)
        listener.start()
        try:
            yield process, said
        finally:
            if process.poll() is None:
                process.kill()
            listener.join()


def hears(said: list[str], words: str) -> None:
    comes_true(lambda: words in "".join(said))


@posix
def test_each_save_is_taken_up_until_ctrl_c(tmp_path: Path) -> None:
    file = tmp_path / "pendulum.yaml"
    file.write_text(PENDULUM)
    with editing_process(file, "--still") as (process, said):
        hears(said, "http://")
        file.write_text(PENDULUM.replace("mass: 2.0", "mass: 3.0"))
        hears(said, "body bob: mass 2.0 → 3.0")
        file.write_text(PENDULUM.replace("mass: 2.0", "mas: 2.0"))
        hears(said, "did you mean 'mass'")
        file.write_text(PENDULUM.replace("mass: 2.0", "mass: 4.0"))
        hears(said, "body bob: mass 3.0 → 4.0")
        process.send_signal(signal.SIGINT)
        assert process.wait(LIMIT) == 0


@posix
def test_each_save_is_run(tmp_path: Path) -> None:
    file = tmp_path / "pendulum.yaml"
    file.write_text(PENDULUM)
    with editing_process(file) as (process, said):
        hears(said, "simulated until t = 0.2 s; the page shows what was reached")
        said.clear()
        file.write_text(PENDULUM.replace("t_end: 0.2", "t_end: 0.3"))
        hears(said, "simulated until t = 0.3 s")
        process.send_signal(signal.SIGINT)
        assert process.wait(LIMIT) == 0


@pytest.mark.parametrize(
    ("given", "words"),
    [("run.nc", "nexdyn view shows it"), ("four-bar", "nexdyn convert four-bar scene.yaml makes a copy to edit"),
     ("nothing.yaml", "nothing.yaml")],
)  # fmt: skip
def test_what_cannot_be_edited_is_told(given: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    from nexdyn.cli import main

    assert main(["edit", given]) == 2
    assert words in capsys.readouterr().err
