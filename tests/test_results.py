"""What a result tells of a motion: laws of mechanics between its arrays, and their labels."""

from __future__ import annotations

import json
import tracemalloc
import warnings

import numpy as np
import pytest
import xarray as xr
from results_lab import DT, Array, inside, menagerie, menagerie_result, pendulum, rate

import nexdyn as nx
from nexdyn.joints import JOINTS
from nexdyn.results import observed as observed_page
from nexdyn.results.quantities import QUANTITIES
from nexdyn.results.recording import Recording
from nexdyn.spatial.rotations import rotation_matrix

DIFFERENCES = 1e-8
"""Relative error of `rate` over these motions."""
CASES = [(0.0, False), (0.3, True)]


@pytest.fixture(params=CASES, ids=["conservative", "damped and pushed"])
def result(request: pytest.FixtureRequest) -> nx.Result:
    return menagerie_result(*request.param)


def close(a: object, b: object, tol: float) -> None:
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    assert a.shape == b.shape
    np.testing.assert_allclose(a, b, rtol=0, atol=tol * max(1.0, float(np.abs(b).max(initial=0.0))))


# --- kinematics -----------------------------------------------------------------------------------------------------


def test_velocity_is_the_rate_of_position(result: nx.Result) -> None:
    close(rate(result.position().values), inside(result.velocity().values), DIFFERENCES)
    close(rate(result.position("tip").values), inside(result.velocity("tip").values), DIFFERENCES)


def test_acceleration_is_the_rate_of_velocity(result: nx.Result) -> None:
    close(rate(result.velocity().values), inside(result.acceleration().values), DIFFERENCES)
    close(rate(result.velocity("tip").values), inside(result.acceleration("tip").values), DIFFERENCES)


def test_rotation_turns_with_the_angular_velocity(result: nx.Result) -> None:
    R, w = result.rotation().values, result.angular_velocity().values
    close(rate(R), np.cross(inside(w)[..., None, :], inside(R).swapaxes(-1, -2)).swapaxes(-1, -2), DIFFERENCES)


def test_angular_acceleration_is_the_rate_of_angular_velocity(result: nx.Result) -> None:
    close(rate(result.angular_velocity().values), inside(result.angular_acceleration().values), DIFFERENCES)


def test_orientation_is_the_rotation_as_a_quaternion(result: nx.Result) -> None:
    for frame in (None, "b", "tip", "ground"):
        close(rotation_matrix(result.orientation(frame).values), result.rotation(frame).values, 1e-12)


def test_orientation_of_a_body_that_turns_often_never_jumps() -> None:
    system = nx.System("top", gravity=(0, 0, 0))
    system.add_body("top", mass=1.0, inertia=(1, 1, 1))
    result = nx.simulate(system, 3.0, nx.RungeKutta4(0.01), v0={"top": (3.0, 20.0, 5.0, 0, 0, 0)})
    q = result.orientation("top").values
    assert (np.sum(q[1:] * q[:-1], axis=1) > 0.9).all()
    assert q[:, 0].min() < -0.9


def test_joint_velocity_is_the_rate_of_joint_position(result: nx.Result) -> None:
    for joint in ("revolute", "prismatic", "helical", "cylindrical", "universal", "planar", "cartesian", "thumb"):
        close(rate(result.joint_position(joint).values), inside(result.joint_velocity(joint).values), DIFFERENCES)
    close(rate(result.joint_velocity().values), inside(result.joint_acceleration().values), DIFFERENCES)


def test_a_mimic_joint_follows(result: nx.Result) -> None:
    close(result.joint_position("thumb"), 0.5 * result.joint_position("knee") + 0.1, 1e-15)
    close(result.joint_acceleration("thumb"), 0.5 * result.joint_acceleration("knee"), 1e-15)


def test_states_are_in_the_order_of_the_tree(result: nx.Result) -> None:
    tree = nx.Tree(result.system)
    q, v = result.joint_position(), result.joint_velocity()
    R, p = tree.pose(q.values)
    close(result.position(), p, 1e-12)
    close(result.rotation(), R, 1e-12)
    w, u = tree.velocity(q.values, v.values)
    close(result.velocity(), u, 1e-12)
    close(result.angular_velocity(), w, 1e-12)
    assert result.position().body.values.tolist() == tree.body_names


def test_measures_agree_with_the_frames_they_name(result: nx.Result) -> None:
    tip, limb = result.position("tip").values, result.position("limb").values
    R = result.rotation("limb").values
    close(result.measure("where"), np.einsum("tji,tj->ti", R, tip - limb), 1e-12)
    close(rate(result.measure("where").values), inside(result.measure("how fast").values), DIFFERENCES)
    close(result.measure("reach"), np.linalg.norm(tip - [1.0, 2.0, 3.0], axis=1), 1e-12)
    close(np.cos(result.measure("tilt")), result.rotation("tip").values[:, 2, 2], 1e-12)
    assert list(result.measures()) == ["where", "how fast", "reach", "tilt"]


# --- forces ---------------------------------------------------------------------------------------------------------


def joint_in_world(result: nx.Result, name: str, wrench: xr.DataArray) -> tuple[Array, Array, Array]:
    """Force, moment and point of a joint's wrench in the world."""
    joint = result.system.joint(name)
    R_PJ, p_PJ, _, _ = joint.frames(result.system.values)
    R_WP = result.rotation(joint.parent.name).values
    R, F = R_WP @ R_PJ, wrench.values
    force, moment = np.einsum("tij,tj->ti", R, F[:, :3]), np.einsum("tij,tj->ti", R, F[:, 3:])
    return force, moment, result.position(joint.parent.name).values + R_WP @ p_PJ


def spring_on(result: nx.Result) -> dict[str, tuple[Array, Array, Array]]:
    """Force, moment, point in the world of the force elements of the menagerie, by body."""
    f, h, values = result.position("f").values, result.position("h").values, result.system.values
    R_f = result.rotation("f").values
    a = f + R_f @ [0.1, 0, 0]
    v = result.velocity("f").values + np.cross(result.angular_velocity("f").values, a - f) - result.velocity("h").values
    spring = result.system.force("spring")
    length = np.linalg.norm(a - h, axis=1, keepdims=True)
    n = (a - h) / length
    tension = spring.stiffness * (length - spring.length) + spring.damping * np.sum(v * n, axis=1, keepdims=True)
    zero = np.zeros_like(a)
    found = {"f": (-tension * n, zero, a), "h": (tension * n, zero, h)}
    if "push" in result.system.forces:
        t, R, e = result.t.values, result.rotation("e").values, result.position("e").values
        own = np.stack([3 * np.sin(5 * t), np.ones_like(t), np.zeros_like(t)], axis=1)
        found["e"] = (np.einsum("tij,tj->ti", R, own), R @ [0, 0.2, 0], e)
    assert values == {}
    return found


def test_newton_and_euler_hold_for_every_body(result: nx.Result) -> None:
    """Σ wrenches of joints, springs and gravity = m a of the centre of mass, and I α + ω × I ω about it."""
    system = result.system
    gravity = system.gravity
    acting = spring_on(result)
    twisted = {"c", "limb"}  # by the torsion spring, which is left out of this test
    for name, body in system.bodies.items():
        mass, com, about_com, _, _ = body.resolved(system.values)
        R, w = result.rotation(name).values, result.angular_velocity(name).values
        r = R @ com
        alpha = result.angular_acceleration(name).values
        a = result.acceleration(name).values + np.cross(alpha, r) + np.cross(w, np.cross(w, r))
        force, moment = np.tile(mass * gravity, (len(r), 1)), np.zeros_like(r)
        c = result.position(name).values + r
        wrenches = [acting[name]] if name in acting else []
        for joint in system.joints.values():
            if name in (joint.child.name, joint.parent.name):
                sign = 1.0 if name == joint.child.name else -1.0
                F, M, point = joint_in_world(result, joint.name, result.transmitted(joint.name))
                wrenches.append((sign * F, sign * M, point))
        for F, M, point in wrenches:
            force += F
            moment += M + np.cross(point - c, F)
        close(force, mass * a, 1e-9)
        if name not in twisted:
            inertia = R @ about_com @ R.swapaxes(-1, -2)
            euler = np.einsum("tij,tj->ti", inertia, alpha)
            euler += np.cross(w, np.einsum("tij,tj->ti", inertia, w))
            close(moment, euler, 1e-9)


def test_a_reaction_does_no_work_on_the_freedoms_of_its_joint(result: nx.Result) -> None:
    for joint in ("revolute", "prismatic", "helical", "cylindrical", "universal", "spherical", "planar", "cartesian"):
        force, moment, point = joint_in_world(result, joint, result.reaction(joint))
        parent, child = (result.system.joint(joint).parent.name, result.system.joint(joint).child.name)
        w = result.angular_velocity(child).values - result.angular_velocity(parent).values
        at = [result.velocity(b).values + np.cross(result.angular_velocity(b).values, point - result.position(b).values)
              for b in (child, parent)]  # fmt: skip
        power = np.sum(moment * w, axis=1) + np.sum(force * (at[0] - at[1]), axis=1)
        close(power, np.zeros(len(power)), 1e-10)


def test_a_fixed_joint_reacts_with_all_it_transmits(result: nx.Result) -> None:
    for joint in ("weld", "plate"):
        close(result.reaction(joint), result.transmitted(joint), 1e-15)
    assert np.abs(result.reaction("loose")).max() < 1e-12


def test_the_rod_of_a_pendulum_carries_weight_and_centripetal_force() -> None:
    result = nx.simulate(pendulum(q0=1.2), 1.0, nx.RungeKutta4(DT))
    q, v = result.joint_position("hinge").values, result.joint_velocity("hinge").values
    R, F = result.reaction("hinge"), result.reaction("hinge").sel(component=["fx", "fy", "fz"]).values
    m, g, length = 2.0, 10.0, 0.5
    # along the rod m g cos q + m l v²; across it the weight accelerates the bob alone
    close(np.linalg.norm(F, axis=1), m * g * np.cos(q) + m * length * v**2, 1e-12)
    close(R.sel(component="mz"), np.zeros(len(q)), 1e-12)
    assert R.units.values.tolist() == ["N", "N", "N", "N m", "N m", "N m"]


def test_at_rest_a_joint_holds_the_weight_in_its_own_axes() -> None:
    system = nx.System("shelf", gravity=(0, 0, -10))
    system.add_body("board", mass=3.0, inertia=(1, 1, 1), position=(2, 0, 0))
    system.add_joint(nx.Fixed("wall", "ground", "board", at=(0, 0, 0), axis=(1, 0, 0), reference=(0, 1, 0)))
    found = nx.simulate(system, 0.1, nx.RungeKutta4(0.1)).reaction("wall").isel(time=-1)
    # joint axes x, y, z are the world's y, z, x: 30 N up, and −60 N m about the world's y... up is y, y is x
    np.testing.assert_allclose(found.values, [0, 30, 0, -60, 0, 0], atol=1e-12)


# --- energy ---------------------------------------------------------------------------------------------------------


def test_total_energy_stays_where_only_gravity_and_springs_work() -> None:
    result = menagerie_result()
    assert result.not_conservative == []
    assert 0.0 < result.energy_drift < 1e-9
    energy = result.energy()
    close(energy.total, energy.kinetic + energy.gravitational + energy.elastic, 1e-15)
    assert energy.elastic.max() > 0.1
    close(
        energy.kinetic, nx.Tree(result.system).kinetic_energy(result.joint_position(), result.joint_velocity()), 1e-12
    )


def test_a_damper_takes_the_energy_that_is_lost() -> None:
    """dE/dt = −d v²."""
    result = nx.simulate(pendulum(damping=0.7), 1.0, nx.RungeKutta4(DT))
    power = -0.7 * result.joint_velocity("hinge").values ** 2
    close(rate(result.energy().total.values), inside(power), DIFFERENCES)
    assert result.not_conservative == ["damping of joint 'hinge'"]
    assert result.summary()["energy_drift"] is None
    assert "work by damping of joint 'hinge'" in result.summary_text()


def test_what_does_work_is_named() -> None:
    result = menagerie_result(0.3, True)
    found = result.not_conservative
    assert {"force 'push'", "force 'motor'", "damping of force 'spring'", "damping of joint 'knee'"} <= set(found)


def test_drift_is_relative_to_the_energy_that_moves() -> None:
    """The same for any height of the pendulum over the zero of potential energy."""
    drift = []
    for height in (0.0, 1000.0):
        system = nx.System("pendulum", gravity=(0, 0, -10))
        system.add_body("bob", mass=2.0, position=(0, 0, height - 0.5))
        system.add_joint(nx.Revolute("hinge", "ground", "bob", at=(0, 0, height), axis=(0, 1, 0), q0=1.0))
        drift.append(nx.simulate(system, 1.0, nx.ExplicitEuler(0.01)).energy_drift)
    assert drift[0] > 0.01
    assert drift[1] == pytest.approx(drift[0], rel=1e-6)


def test_nothing_drifts_at_rest() -> None:
    assert nx.simulate(pendulum(q0=0.0), 1.0, nx.RungeKutta4(0.01)).energy_drift == 0.0


# --- peaks and summary ----------------------------------------------------------------------------------------------


def test_peaks_are_the_largest_reactions_and_when(result: nx.Result) -> None:
    peaks = result.peaks()
    reaction = result.reaction()
    for part, components in (("force", ["fx", "fy", "fz"]), ("moment", ["mx", "my", "mz"])):
        size = np.sqrt((reaction.sel(component=components) ** 2).sum("component"))
        np.testing.assert_array_equal(peaks[part], size.max("time"))
        np.testing.assert_array_equal(peaks[f"{part}_time"], result.t.values[size.argmax("time")])
    assert (peaks.force.units, peaks.moment.units, peaks.force_time.units) == ("N", "N m", "s")


def test_peaks_print_as_a_table_in_any_order(result: nx.Result) -> None:
    lines = str(result.peaks().sortby("force", ascending=False)).splitlines()
    assert lines[0].split() == ["joint", "force", "[N]", "at", "t", "[s]", "moment", "[N", "m]", "at", "t", "[s]"]
    forces = [float(line.split()[1]) for line in lines[1:]]
    assert forces == sorted(forces, reverse=True)
    assert len(lines) == 1 + len(result.system.joints)
    assert "Dimensions" in repr(result.peaks()[["force"]])


def test_summary_is_plain_json(result: nx.Result) -> None:
    found = result.summary(peaks=3)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert (found["status"], found["steps"], found["samples"], found["t_end"]) == ("finished", 300, 301, 0.3)
    assert len(found["peak_reactions"]) == 3
    assert found["peak_reactions"][0]["force"] == float(result.peaks().force.max())


def test_summary_text_has_status_steps_energy_and_peaks() -> None:
    text = menagerie_result().summary_text(peaks=2)
    assert text.startswith("menagerie: finished at t = 0.3 s\n")
    for part in ("300 of RungeKutta4(dt=0.001)", "drift", "force [N]"):
        assert part in text
    assert len(text.splitlines()) == 8


def test_motion_that_grew_beyond_numbers_still_has_a_summary() -> None:
    result = nx.simulate(pendulum(), 0.1, nx.RungeKutta4(0.01))
    result.recording.v[-1] = 1e200
    found = nx.Result(result.system, result.recording).summary()
    assert found["energy_end"] is None
    assert "not finite" in nx.Result(result.system, result.recording).summary_text()


# --- labels ---------------------------------------------------------------------------------------------------------


def test_every_kind_of_joint_has_labels() -> None:
    for cls in (cls for cls in JOINTS.values() if cls.tree):
        assert (len(cls.coordinate_labels), len(cls.velocity_labels)) == (cls.nq, cls.nv)
        assert len(dict(cls.coordinate_labels)) == cls.nq


def test_arrays_carry_names_units_and_meaning(result: nx.Result) -> None:
    units = {
        "position": "m", "orientation": "1", "rotation": "1", "velocity": "m/s", "angular_velocity": "rad/s",
        "acceleration": "m/s^2", "angular_acceleration": "rad/s^2",
    }  # fmt: skip
    for name, unit in units.items():
        array = getattr(result, name)("b")
        assert array.name == name
        assert array.dims == ("time", *(dim for dim in QUANTITIES[name].dims if dim != "body"))
        assert (array.attrs["units"], array.body.item()) == (unit, "b")
        assert array.attrs["long_name"]
        assert array.time.attrs["units"] == "s"
        whole = getattr(result, name)()
        assert whole.dims[:2] == ("time", "body")
        np.testing.assert_array_equal(whole.sel(body="b"), array)
    assert result.t.attrs["units"] == "s"
    assert result.energy().total.attrs["units"] == "J"
    assert result.measure("how fast").attrs["units"] == "m/s"
    assert result.measure("how fast").dims == ("time", "axis")
    assert result.measure("reach").dims == ("time",)


def test_coordinates_are_labelled_by_joint(result: nx.Result) -> None:
    q, v = result.joint_position(), result.joint_velocity()
    assert {"revolute", "planar.angle", "base.qw", "spherical.qz", "loose.px"} <= set(q.coordinate.values)
    assert {"revolute", "planar.x", "base.vx", "spherical.wz"} <= set(v.freedom.values)
    assert q.sel(coordinate="planar.x").units.item() == "m"
    assert v.sel(freedom="base.wx").units.item() == "rad/s"
    assert q.attrs["units"] == "mixed"
    one, many = result.joint_position("revolute"), result.joint_position("planar")
    assert (one.dims, one.attrs["units"], one.coordinate.item()) == (("time",), "rad", "revolute")
    assert many.coordinate.values.tolist() == ["planar.x", "planar.y", "planar.angle"]
    assert many.units.values.tolist() == ["m", "m", "rad"]
    np.testing.assert_array_equal(many, q.sel(coordinate=many.coordinate))
    assert result.joint_acceleration("spherical").attrs["units"] == "rad/s^2"


def test_ground_and_markers_are_frames_too(result: nx.Result) -> None:
    np.testing.assert_array_equal(result.position("hook")[-1], [1.0, 2.0, 3.0])
    assert not result.velocity("ground").any()
    np.testing.assert_array_equal(result.rotation("ground")[0], np.eye(3))
    assert result.position("ground").shape == result.position("b").shape


def test_arrays_are_copies(result: nx.Result) -> None:
    for get in (result.position, result.joint_position, result.reaction):
        before = get().values.copy()
        get()[:] = 0.0
        np.testing.assert_array_equal(get(), before)
    energy = result.energy().total.values.copy()
    result.energy().total[:] = 0.0
    np.testing.assert_array_equal(result.energy().total, energy)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda r: r.position("universal"), r"^'universal' is a joint, not a body or marker; joint_position"),
        (lambda r: r.joint_position("limb"), r"^'limb' is a body, not a joint; position\('limb'\)"),
        (lambda r: r.reaction("limb"), r"^'limb' is a body, not a joint; position\('limb'\)"),
        (lambda r: r.position("lim"), r"no marker or body 'lim'; did you mean 'limb'\?"),
        (lambda r: r.reaction("universall"), r"no joint 'universall'; did you mean 'universal'\?"),
        (lambda r: r.joint_position("kne"), r"no joint 'kne'; did you mean 'knee'\?"),
        (lambda r: r.measure("rich"), r"no measure 'rich'; did you mean 'reach'\?"),
    ],
)
def test_unknown_names_are_refused_with_the_nearest(result: nx.Result, ask: object, message: str) -> None:
    with pytest.raises(nx.UnknownNameError, match=message):
        ask(result)  # type: ignore[operator]


def test_a_fixed_joint_has_no_coordinates_to_ask_for(result: nx.Result) -> None:
    with pytest.raises(nx.InputError, match="joint 'weld' has no coordinates; joints: "):
        result.joint_position("weld")


def test_a_result_says_in_one_line_what_it_is(result: nx.Result) -> None:
    expected = "Result('menagerie': t = 0 … 0.3 s, 301 samples, RungeKutta4(dt=0.001), finished)"
    assert repr(result) == expected
    html = nx.Result(nx.System("<b>&"), result.recording)._repr_html_()
    assert "&lt;b&gt;&amp;" in html


# --- size -----------------------------------------------------------------------------------------------------------


def test_blocks_change_no_number(result: nx.Result, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observed_page, "KEPT_BYTES", 0)
    monkeypatch.setattr(observed_page, "BLOCK_BYTES", 20_000)
    blocked = nx.Result(result.system, result.recording)
    for name in ("position", "orientation", "acceleration", "reaction"):
        np.testing.assert_array_equal(getattr(blocked, name)(), getattr(result, name)())
    np.testing.assert_array_equal(blocked.acceleration("tip"), result.acceleration("tip"))
    np.testing.assert_array_equal(blocked.measure("how fast"), result.measure("how fast"))
    np.testing.assert_array_equal(blocked.energy().total, result.energy().total)
    assert blocked.peaks().identical(result.peaks())
    xr.testing.assert_identical(blocked.to_dataset(), result.to_dataset())


def test_a_long_run_of_many_bodies_takes_the_memory_of_a_block(
    result: nx.Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observed_page, "KEPT_BYTES", 2**20)
    monkeypatch.setattr(observed_page, "BLOCK_BYTES", 2**20)
    r, times = result.recording, 30
    t = np.arange(times * len(r.t)) * 1e-3
    long = Recording(t, *(np.tile(x, (times, 1)) for x in (r.q, r.v, r.a)))
    whole = 8 * observed_page.NUMBERS * len(t) * len(result.system.bodies)
    asked = nx.Result(result.system, long)
    tracemalloc.start()
    asked.position("c")
    asked.peaks()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < whole / 5


def test_a_system_that_cannot_move_has_a_result() -> None:
    system = nx.System("rock", gravity=(0, 0, -10))
    system.add_body("rock", mass=1.0, inertia=(1, 1, 1))
    system.add_joint(nx.Fixed("glue", "ground", "rock"))
    result = nx.simulate(system, 0.1, nx.RungeKutta4(0.1))
    assert result.joint_position().shape == (2, 0)
    assert result.peaks().force.item() == pytest.approx(10.0)
    assert result.to_dataset().position.shape == (2, 1, 3)
    assert result.energy_drift == 0.0


def test_a_free_body_has_no_joint_to_react() -> None:
    system = nx.System("stone", gravity=(0, 0, -10))
    system.add_body("stone", mass=1.0, inertia=(1, 1, 1))
    result = nx.simulate(system, 0.1, nx.RungeKutta4(0.1))
    assert result.reaction().shape == (2, 0, 6)
    assert result.summary()["peak_reactions"] == []
    np.testing.assert_allclose(result.acceleration("stone"), [[0, 0, -10]] * 2, atol=1e-12)
    assert result.joint_position("stone").dims == ("time", "coordinate")


def test_a_result_needs_neither_a_tree_nor_forces_that_still_work() -> None:
    """Poses are told where a user function fails when it is called again; reactions are not."""
    calls = []

    def once(t: float, A: Array, B: Array, out: Array) -> None:
        calls.append(t)
        if len(calls) > 200:
            raise ValueError("enough")
        out[:] = 0.0

    system = menagerie()
    system.add_force(nx.UserForce("tired", "a", function=once))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nx.NexDynWarning)  # that it is slow, said once a process
        result = nx.simulate(system, 0.02, nx.RungeKutta4(DT))
    calls.extend([0.0] * 200)
    assert np.isfinite(result.position("c")).all()
    with pytest.raises(nx.SolveError, match="tired"):
        result.reaction("knee")
