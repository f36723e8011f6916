"""Plots: what they draw are the result's numbers, with names and units; files are whole and the same every time."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread
from results_lab import menagerie_result, pendulum

import nexdyn as nx
from nexdyn.view.charts import DEFAULT, KINDS, MOST, MOST_PHASES, Panel, panels
from nexdyn.view.panels import _title
from nexdyn.view.plots import DOTS_PER_INCH, WIDTH


def swung(**joint: float) -> nx.Result:
    return nx.simulate(pendulum(**joint), t_end=1.0, method=nx.RungeKutta4(1e-2))


def by_label(panel: Panel) -> dict[str, np.ndarray]:
    return {line.label: line.y for line in panel.lines}


# --- what is drawn --------------------------------------------------------------------------------------------------


def test_energy_is_drawn_with_what_the_total_gained_where_it_should_stay() -> None:
    result = swung()
    energy, gained = panels(result, ["energy"])
    assert energy.y == "energy [J]" and energy.x == "time [s]"
    E = result.energy()
    for name, y in by_label(energy).items():
        np.testing.assert_array_equal(y, E[name].values)
    assert list(by_label(energy)) == ["kinetic", "gravitational", "total"]
    np.testing.assert_array_equal(gained.lines[0].y, E["total"].values - E["total"].values[0])
    assert len(panels(swung(damping=0.1), ["energy"])) == 1  # the damper takes energy away: no fault to show


@pytest.mark.parametrize("name", ["joint_position", "joint_velocity", "joint_acceleration"])
def test_joint_coordinates_have_a_panel_a_unit_and_none_is_lost(name: str) -> None:
    result = menagerie_result()
    array = getattr(result, name)()
    dim = array.dims[1]
    found = panels(result, [name], of=list(result.tree.joint_names))
    units = [re.search(r"\[(.*)\]", panel.y)[1] for panel in found]  # type: ignore[index]
    assert units == list(dict.fromkeys(str(u).replace("^2", "²") for u in array.coords["units"].values))
    for panel, unit in zip(found, units, strict=True):
        own = [str(u).replace("^2", "²") == unit for u in array.coords["units"].values]
        labels = array.coords[dim].values[own]
        for label, y in by_label(panel).items():
            np.testing.assert_array_equal(y, array.sel({dim: label}).values)
        moving = np.ptp(array.values[:, own], axis=0)
        drawn = {line.label for line in panel.lines}
        assert len(drawn) == min(MOST, len(labels))
        assert drawn == set(labels[np.argsort(-moving, kind="stable")[:MOST]])
        assert (f"{MOST} of {len(labels)}" in panel.title) == (len(labels) > MOST)


@pytest.mark.parametrize("name", ["position", "velocity", "angular_velocity", "acceleration", "angular_acceleration"])
def test_bodies_and_markers_are_drawn_axis_by_axis(name: str) -> None:
    result = menagerie_result()
    (one,) = panels(result, [name], of=["tip"])
    expected = getattr(result, name)("tip")
    for k, axis in enumerate("xyz"):
        np.testing.assert_array_equal(by_label(one)[axis], expected.values[:, k])
    assert one.y == f"{name.replace('_', ' ')} [{expected.attrs['units']}]".replace("^2", "²")
    assert " tip" in one.title and "'" not in one.title
    several = panels(result, [name], of=["base", "tip"])
    assert [panel.y[0] for panel in several] == ["x", "y", "z"]
    for k, panel in enumerate(several):
        np.testing.assert_array_equal(by_label(panel)["base"], getattr(result, name)("base").values[:, k])
    assert all(len(panel.lines) == MOST for panel in panels(result, [name]))


@pytest.mark.parametrize("name", ["reaction", "transmitted"])
def test_a_wrench_is_drawn_by_components_of_one_joint_and_magnitudes_of_several(name: str) -> None:
    result = menagerie_result()
    expected = getattr(result, name)("knee")
    force, moment = panels(result, [name], of=["knee"])
    for panel, components in ((force, ("fx", "fy", "fz")), (moment, ("mx", "my", "mz"))):
        assert list(by_label(panel)) == list(components)
        for component, y in by_label(panel).items():
            np.testing.assert_array_equal(y, expected.sel(component=component).values)
    assert (force.y, moment.y) == ("force [N]", "moment [N·m]")
    force, moment = panels(result, [name], of=["knee", "weld"])
    np.testing.assert_allclose(by_label(force)["knee"], np.linalg.norm(expected.values[:, :3], axis=1), rtol=1e-15)
    np.testing.assert_allclose(by_label(moment)["knee"], np.linalg.norm(expected.values[:, 3:], axis=1), rtol=1e-15)


def test_a_phase_portrait_of_a_swing_is_the_curve_of_its_energy() -> None:
    result = swung()
    (panel,) = panels(result, ["phase"])
    assert not panel.over_time and (panel.x, panel.y) == ("q [rad]", "v [rad/s]")
    (line,) = panel.lines
    # ½ m l² v² + m g l (1 − cos q) = const of the pendulum: m = 2, l = 0.5, g = 10
    energy = 0.25 * line.y**2 + 10.0 * (1 - np.cos(line.x))
    np.testing.assert_allclose(energy, energy[0], rtol=1e-7)
    assert np.ptp(line.x) > 1.0


def test_phase_portraits_are_of_joints_whose_velocities_are_rates() -> None:
    result = menagerie_result()
    found = panels(result, ["phase"])
    assert len(found) == MOST_PHASES and all("of 14" in panel.title for panel in found)
    assert [panel.x for panel in panels(result, ["phase"], of=["cylindrical"])] == ["q [rad]", "q [m]"]
    with pytest.raises(nx.InputError, match=r"'spherical' is spherical: .*quaternion.*revolute"):
        panels(result, ["phase"], of=["spherical"])


def test_measures_are_drawn_in_their_units() -> None:
    result = menagerie_result()
    found = {panel.y: by_label(panel) for panel in panels(result, ["measures"])}
    assert set(found) == {"length [m]", "velocity [m/s]", "angle [rad]"}
    np.testing.assert_array_equal(found["length [m]"]["reach"], result.measure("reach").values)
    np.testing.assert_array_equal(found["velocity [m/s]"]["how fast.y"], result.measure("how fast").values[:, 1])


@pytest.mark.parametrize(
    ("what", "of", "message"),
    [
        ("enrgy", (), r"no plot 'enrgy'; did you mean 'energy'\? plots: energy, joint_position"),
        ("joint_position", ("hing",), r"no joint 'hing'; did you mean 'hinge'\?"),
        ("reaction", ("hing",), r"no joint 'hing'; did you mean 'hinge'\?"),
        ("position", ("bobb",), r"no marker or body 'bobb'; did you mean 'bob'\?"),
        ("phase", ("hing",), r"no joint 'hing'; did you mean 'hinge'\?"),
        ("measures", ("x",), "no measure 'x'; measures: none"),
        ("measures", (), "'pendulum' has no measures to plot"),
    ],
)
def test_what_is_not_there_is_said_with_what_is(what: str, of: tuple[str, ...], message: str) -> None:
    with pytest.raises(nx.InputError, match=message):
        swung().plot(what, of=of)


# --- figures and files ----------------------------------------------------------------------------------------------


def test_a_plot_has_all_axes_labelled_with_units() -> None:
    figure = menagerie_result().plot(*KINDS)
    for axes in figure.axes:
        assert re.search(r"\[.+\]$", axes.get_ylabel()), axes.get_title()
    assert all(axes.get_title(loc="left") for axes in figure.axes)
    below = figure.axes[-1].get_xlabel()
    assert below == "q [m]" or below == "q [rad]"
    assert sum(axes.get_xlabel() == "time [s]" for axes in figure.axes) == 1  # below the column that shares it


def test_a_line_is_told_apart_without_colours() -> None:
    figure = menagerie_result().plot("position")
    for axes in figure.axes:
        looks = {(line.get_color(), str(line.get_linestyle()), str(line._dash_pattern)) for line in axes.lines}  # type: ignore[attr-defined]
        dashes = [str(line._dash_pattern) for line in axes.lines]  # type: ignore[attr-defined]
        assert len(looks) == len(axes.lines) == MOST
        assert all(a != b for a, b in itertools.pairwise(dashes))


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_files_are_written_whole_and_the_same_every_time(tmp_path: Path, suffix: str) -> None:
    result, first, second = swung(), tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
    result.plot(path=first)
    result.plot(path=second)
    assert first.read_bytes() == second.read_bytes()
    assert first.read_bytes()[:5] in (b"\x89PNG\r", b"<?xml", b"%PDF-")
    assert sorted(path.name for path in tmp_path.iterdir()) == [first.name, second.name]


def test_a_png_fills_the_width_of_a_page_and_its_lines_have_ink(tmp_path: Path) -> None:
    swung().plot("joint_position", path=tmp_path / "a.png")
    image = imread(tmp_path / "a.png")[:, :, :3]
    assert image.shape[1] == round(WIDTH * DOTS_PER_INCH)
    blue = np.abs(image - np.array([0x00, 0x72, 0xB2]) / 255).max(axis=2) < 0.02
    columns = np.flatnonzero(blue.any(axis=0))
    assert len(columns) > 0.7 * image.shape[1]  # the curve goes all through the axes
    assert np.ptp(np.flatnonzero(blue.any(axis=1))) > 0.3 * image.shape[0]


def test_a_long_run_makes_a_small_svg(tmp_path: Path) -> None:
    result = nx.simulate(pendulum(), t_end=100.0, method=nx.RungeKutta4(1e-3))
    result.plot("joint_position", path=tmp_path / "long.svg")
    assert (tmp_path / "long.svg").stat().st_size < 2e6  # 10⁵ samples


def test_an_interrupted_run_says_so_in_its_title() -> None:
    result = swung()
    result.recording.status = "interrupted"
    assert result.plot().get_suptitle() == "pendulum (interrupted at t = 1 s)"


def test_a_single_sample_is_drawn_as_a_point() -> None:
    result = swung()
    r = result.recording
    still = nx.Result(result.system, type(r)(r.t[:1], r.q[:1], r.v[:1], r.a[:1]))
    assert all(line.get_marker() == "." for line in still.plot("joint_position").axes[0].lines)


def test_a_figure_shows_itself_in_a_notebook() -> None:
    figure = swung().plot()
    assert "<svg" in figure._repr_svg_()  # type: ignore[attr-defined]


def test_plots_neither_need_a_display_nor_touch_the_users_matplotlib() -> None:
    program = (
        "import matplotlib as m; before = m.rcParams.copy(); import nexdyn as nx, results_lab as lab, sys;"
        "nx.simulate(lab.pendulum(), t_end=0.1, method=nx.RungeKutta4(1e-2)).plot();"
        "print('matplotlib.pyplot' in sys.modules, m.rcParams.copy() == before)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=Path(__file__).parent)
    assert done.stdout == "False True\n", done.stderr


def test_without_matplotlib_the_extra_that_has_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(nx.InputError, match=r"a plot needs matplotlib: pip install 'nexdyn\[view\]'"):
        swung().plot()


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("a.jpg", "'a.jpg' ends in '.jpg'; a plot ends in .png or .svg or .pdf"),
        ("a", "'a' has no suffix"),
        ("nowhere/a.png", "there is no folder 'nowhere'"),
    ],
)
def test_a_path_that_cannot_be_is_refused(
    path: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(nx.InputError, match=re.escape(message)):
        swung().plot(path=path)
    assert not list(tmp_path.iterdir())


def test_what_is_plotted_without_a_word_is_energy_and_coordinates() -> None:
    assert DEFAULT == ("energy", "joint_position")
    titles = [axes.get_title(loc="left") for axes in swung().plot().axes]
    assert titles == ["energy", "what the total energy gained: total − initial", "joint coordinates q: hinge"]


# --- what is printed ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def robot() -> nx.Result:
    """An arm whose parts have names as long as robots' are."""
    system = nx.System("robot", gravity=(0, 0, -9.81))
    parent = system.ground
    for i in range(10):
        link = system.add_body(f"left_arm_upper_link_{i}", mass=1.0, inertia=(1, 1, 1), position=(0.3 * i + 0.15, 0, 0))
        axis = ((0, 1, 0), (0, 0, 1))[i % 2]
        system.add_joint(nx.Revolute(f"left_arm_shoulder_pitch_joint_{i}", parent, link, at=(0.3 * i, 0, 0), axis=axis))
        parent = link
    return nx.simulate(system, t_end=0.5, method=nx.RungeKutta4(5e-3))


@pytest.mark.parametrize("what", ["phase", "joint_position", "reaction", "position"])
def test_no_text_of_a_figure_overlaps_another_one_or_is_cut(robot: nx.Result, what: str) -> None:
    figure = robot.plot(what)
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    texts = [figure._suptitle]
    for axes in figure.axes:
        texts += [axes._left_title, axes.xaxis.label, axes.yaxis.label]
    boxes = [text.get_window_extent(renderer) for text in texts if text.get_text()]
    page = figure.bbox
    for i, box in enumerate(boxes):
        assert page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1
        assert not any(box.overlaps(other) for other in boxes[i + 1 :])
        assert sum(box.overlaps(axes.bbox) for axes in figure.axes) == 0
    assert (
        "left_arm_shoulder_pitch_joint_0" in figure.axes[0].get_title(loc="left").replace("\n", "") or what != "phase"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_every_panel_names_its_quantity_once_and_its_unit(robot: nx.Result, kind: str) -> None:
    names = {"position": ["left_arm_upper_link_3"], "joint_position": ["left_arm_shoulder_pitch_joint_2"]}
    if kind == "measures":  # none here; see above
        return
    for panel in (*panels(robot, [kind]), *panels(robot, [kind], of=names.get(kind, []))):
        assert re.fullmatch(r".+ \[.+\]", panel.y) and re.fullmatch(r".+ \[.+\]", panel.x)
        title = _title(panel)
        assert re.search(r" \[.+\]$", title) and "''" not in title
        symbol = panel.y.partition(" [")[0]
        assert not title.partition(" [")[0].endswith(f"{symbol}, {symbol}")
