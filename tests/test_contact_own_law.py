"""Contacts whose normal force is a function of the user's: the same motion as by numbers, energy, and what is refused."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

import nexdyn as nx

K, A, RADIUS = 1e5, 0.3, 0.1


@numba.njit
def hertz(depth, rate):  # type: ignore[no-untyped-def]
    return K * depth**1.5 * (1.0 + A * rate)


@numba.njit
def stiffening(depth, rate):  # type: ignore[no-untyped-def]
    """No power of the depth; its damper pulls where it leaves fast."""
    return 4e3 * depth + 2e8 * depth**3 + 60.0 * rate


@numba.njit
def linear(depth, rate):  # type: ignore[no-untyped-def]
    return 2e4 * depth


@numba.njit
def no_number(depth, rate):  # type: ignore[no-untyped-def]
    return 1e4 * depth if depth < 0.005 else math.nan


@numba.njit
def raises(depth, rate):  # type: ignore[no-untyped-def]
    if depth > 0.005:
        raise ValueError("too deep")
    return 1e3 * depth


def raises_in_python(depth: float, rate: float) -> float:
    if depth > 0.005:
        raise ValueError("too deep")
    return 1e3 * depth


def thrown(on: str, **law: Any) -> tuple[nx.System, dict[str, Any]]:
    """A ball thrown onto the ground, a box or another ball."""
    system = nx.System("ball")
    system.add_body("ball", mass=1.0, inertia=(0.004,) * 3, shapes=[nx.Sphere(RADIUS)])
    height = 0.12
    if on != "ground":
        shape = nx.Box((2.0, 2.0, 0.2)) if on == "box" else nx.Sphere(0.3)
        system.add_body("table", mass=5.0, inertia=(1.0, 1.0, 1.0), shapes=[shape])
        system.add_joint(nx.Fixed("stands", "ground", "table"))
        height = 0.22 if on == "box" else 0.42
    system.add_contact(nx.Contact("touch", "ball", "ground" if on == "ground" else "table", friction=0.4, **law))
    return system, {"q0": {"ball": (1, 0, 0, 0, 0, 0, height)}, "v0": {"ball": (0, 2.0, 0, 0.5, 0, 0)}}


METHODS = (
    nx.RungeKutta4(2e-4), nx.DormandPrince(), nx.SemiImplicitEuler(2e-4), nx.HHT(dt=2e-4), nx.HHT(), nx.Projection(dt=2e-4),
    nx.Baumgarte(2e-4), nx.ImplicitEuler(2e-4), nx.ImplicitEuler(2e-4, bdf2=True),
)  # fmt: skip
FEWER = (METHODS[0], METHODS[3], METHODS[5], METHODS[7])


@pytest.mark.parametrize("on", ["ground", "box", "ball"])
@pytest.mark.parametrize("method", METHODS, ids=lambda method: repr(method)[:30])
def test_a_law_of_the_users_that_is_hertzs_moves_as_that_of_numbers(on: str, method: Any) -> None:
    found = []
    for law in ({"stiffness": K, "damping": A}, {"normal_force": hertz}):
        system, start = thrown(on, **law)
        result = nx.simulate(system, 0.2, method, **start)
        assert float(result.contacts("touch").normal.max()) > 5.0
        found.append((result.position("ball").values[-1], float(result.energy().total[-1])))
    within = 1e-12 if getattr(method, "dt", None) else 1e-7
    np.testing.assert_allclose(found[1][0], found[0][0], rtol=0, atol=within)
    assert found[1][1] == pytest.approx(found[0][1], abs=10 * within)


def test_formulations_agree_on_a_law_that_numbers_do_not_say() -> None:
    ends = {}
    for method in (nx.RungeKutta4(5e-5), nx.HHT(dt=5e-5), nx.Projection(dt=5e-5), nx.ImplicitEuler(5e-5, bdf2=True)):
        system, start = thrown("ground", normal_force=stiffening)
        ends[method.name] = nx.simulate(system, 0.25, method, **start).position("ball").values[-1]
    for name, end in ends.items():
        np.testing.assert_allclose(end, ends["rk4"], rtol=0, atol=2e-5, err_msg=name)


def test_it_never_pulls_and_its_energy_and_heat_make_up_what_there_was() -> None:
    system, start = thrown("ground", normal_force=stiffening)
    result = nx.simulate(system, 0.25, nx.RungeKutta4(2e-5), output_every=1, **start)
    force = result.contacts("touch").normal.values
    assert force.min() == 0.0
    assert force.max() > 20.0
    energy = result.energy(dissipated=True)
    whole = energy.total.values + energy.dissipated.sum("contact").values
    assert float(energy.dissipated[-1].sum()) > 0.2
    np.testing.assert_allclose(whole, whole[0], rtol=0, atol=2e-4)


def test_a_ball_at_rest_sinks_to_where_the_law_carries_it_and_swings_about_that_place() -> None:
    system, _ = thrown("ground", normal_force=linear)
    rest = nx.equilibrium(system, q0={"ball": (1, 0, 0, 0, 0, 0, RADIUS)})
    height = float(np.asarray(rest.position("ball"))[2])
    assert height == pytest.approx(RADIUS - 9.81 / 2e4, rel=1e-7)
    swings = [mode.frequency for mode in nx.linearize(system, rest).modes if mode.frequency > 10.0]
    assert min(swings) == pytest.approx(math.sqrt(2e4) / (2.0 * math.pi), rel=1e-5)


@pytest.mark.parametrize("law", [no_number, raises, raises_in_python], ids=["nan", "raises", "python"])
@pytest.mark.parametrize("method", FEWER, ids=lambda method: method.name)
def test_a_law_that_fails_is_named_with_its_pair_and_time(law: Any, method: Any) -> None:
    system, start = thrown("ground", normal_force=law)
    told = "not finite" if law is no_number else "raised ValueError: too deep"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nx.NexDynWarning)
        with pytest.raises(nx.SolveError, match=rf"force 'touch ball ground' .*{told} at t = 0\.0\d") as caught:
            nx.simulate(system, 0.2, method, **start)
    assert caught.value.where == "touch ball ground"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"normal_force": hertz, "stiffness": 1e5}, "normal_force, and stiffness"),
        ({"normal_force": hertz, "damping": 0.1}, "normal_force, and damping"),
        ({"normal_force": hertz, "exponent": 1.0}, "normal_force, and exponent"),
        ({"normal_force": hertz, "foundation_a": 1e8}, "foundation, over areas, and normal_force"),
        ({"normal_force": 3.0}, "function \\(depth, rate\\)"),
        ({}, "no stiffness.*normal_force"),
    ],
)
def test_what_does_not_go_with_it_is_refused(given: dict[str, Any], told: str) -> None:
    system = nx.System("ball")
    system.add_body("ball", mass=1.0, inertia=(0.004,) * 3, shapes=[nx.Sphere(RADIUS)])
    with pytest.raises(nx.InputError, match=told):
        system.add_contact(nx.Contact("touch", "ball", **given))
        system.check()


def test_a_function_of_other_arguments_is_refused_by_name() -> None:
    @numba.njit
    def of_three(t, depth, rate):  # type: ignore[no-untyped-def]
        return depth

    with pytest.raises(nx.InputError, match=r"normal_force of force 'touch ball ground'.*of_three\(depth, rate\)"):
        thrown("ground", normal_force=of_three)


def test_a_contact_between_two_elements_of_its_own_takes_it_too() -> None:
    ends = []
    for law in ({"stiffness": K, "damping": A}, {"normal_force": hertz}):
        system = nx.System("ball")
        system.add_body("ball", mass=1.0, inertia=(0.004,) * 3)
        system.add_force(nx.PlaneContact("touch", "ball", radius=RADIUS, friction=0.4, **law))
        start = {"ball": (1, 0, 0, 0, 0, 0, 0.12)}
        ends.append(nx.simulate(system, 0.2, nx.RungeKutta4(2e-4), q0=start).position("ball").values[-1])
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=1e-13)


def test_members_of_a_batch_move_with_it_as_alone() -> None:
    system, start = thrown("ground", normal_force=hertz)
    system.parameter("m", 1.0)
    system = system.with_parameters({"ball.mass": "=m"})
    batch = nx.Batch(
        parameters={"m": [1.0, 2.0]}, **{name: {body: [x, x] for body, x in of.items()} for name, of in start.items()}
    )
    found = nx.simulate(system, 0.1, nx.RungeKutta4(2e-4), batch=batch)
    for i, mass in enumerate((1.0, 2.0)):
        alone = nx.simulate(system.with_parameters({"m": mass}), 0.1, nx.RungeKutta4(2e-4), **start)
        np.testing.assert_allclose(
            found.member(i).position("ball").values[-1], alone.position("ball").values[-1], rtol=0, atol=1e-13
        )


def test_a_scene_refuses_it_by_name_and_a_file_of_results_says_that_it_lacks(tmp_path: Path) -> None:
    system, start = thrown("ground", normal_force=hertz)
    with pytest.raises(nx.InputError, match=r"normal_force of contact 'touch'.*cannot be written"):
        nx.save_scene(system, tmp_path / "scene.yaml")
    result = nx.simulate(system, 0.01, nx.RungeKutta4(1e-3), **start)
    with pytest.warns(nx.NexDynWarning, match="written in Python: contact 'touch'"):
        result.save(tmp_path / "run.nc")
    with pytest.warns(nx.NexDynWarning, match="was run with 'touch': Python.*would not go on as it did"):
        read = nx.open_result(tmp_path / "run.nc")
    np.testing.assert_array_equal(read.position("ball").values, result.position("ball").values)
    assert read.lost_forces == ("touch ball ground",)


def test_a_file_of_results_whose_event_names_a_contact_that_it_lacks_is_read(tmp_path: Path) -> None:
    """The event goes, too; what was switched is not looked for."""
    system, start = thrown("ground", normal_force=hertz)
    system.add_event(nx.Event("touches", contact="touch", direction="falling"))
    system.add_event(nx.Event("late", time=0.05, off="touch"))
    result = nx.simulate(system, 0.1, nx.RungeKutta4(1e-3), **start)
    with pytest.warns(nx.NexDynWarning, match="written in Python: contact 'touch', event 'touches', event 'late'"):
        result.save(tmp_path / "run.nc")
    with pytest.warns(nx.NexDynWarning, match="was run with 'touch', 'touches', 'late': Python"):
        read = nx.open_result(tmp_path / "run.nc")
    np.testing.assert_array_equal(read.position("ball").values, result.position("ball").values)
    assert not read.system.events


@numba.njit
def flat(depth, rate):  # type: ignore[no-untyped-def]
    return 40.0


@pytest.mark.filterwarnings("ignore:contact .* starts")
@pytest.mark.parametrize("method", FEWER, ids=lambda method: method.name)
@pytest.mark.parametrize("on", ["plane", "box"])
def test_friction_holds_under_a_law_that_does_not_grow(on: str, method: Any) -> None:
    """40 N at any depth, μ = 0.5: 15 N are held, 30 N slide with the rest."""
    for pull, slides in ((15.0, False), (30.0, True)):
        system = nx.System("slider", gravity=(0, 0, 0))
        system.add_body("slider", mass=2.0, inertia=(0.02, 0.02, 0.02), position=(0, 0, 0.099), shapes=[nx.Sphere(0.1)])
        system.add_joint(nx.Prismatic("along", "ground", "slider", axis=(1, 0, 0), at=(0, 0, 0.099)))
        other = "ground"
        if on == "box":
            other = "table"
            system.add_body("table", mass=1.0, inertia=(1, 1, 1), position=(0, 0, -0.1), shapes=[nx.Box((4, 4, 0.2))])
            system.add_joint(nx.Fixed("stands", "ground", "table"))
        system.add_contact(nx.Contact("touch", "slider", other, normal_force=flat, friction=0.5))
        system.add_force(nx.AppliedForce("pull", "slider", force=(pull, 0.0, 0.0)))
        result = nx.simulate(system, 0.2, method)
        x, held = float(result.position("slider").values[-1, 0]), float(result.contacts("touch").tangential[-1].sum())
        if slides:
            assert held == pytest.approx(20.0, rel=1e-6)
            v = np.interp([0.1, 0.2], result.t.values, result.velocity("slider").values[:, 0])
            assert v[1] - v[0] == pytest.approx(0.1 * (30.0 - 20.0) / 2.0, rel=1e-3)
        else:
            assert held == pytest.approx(15.0, rel=0.3)  # it swings about what it gives
            assert abs(x) < 2.5 * 15.0 / (0.82 * 40.0 / 1e-3)


def test_contacts_of_a_robot_take_it(tmp_path: Path) -> None:
    (tmp_path / "ball.urdf").write_text(
        "<robot name='ball'><link name='ball'><inertial><mass value='1'/><inertia ixx='0.004' iyy='0.004' izz='0.004' "
        "ixy='0' ixz='0' iyz='0'/></inertial><collision><geometry><sphere radius='0.1'/></geometry></collision></link></robot>"
    )
    system = nx.load(tmp_path / "ball.urdf", base="free", contacts={"normal_force": hertz, "friction": 0.4})
    assert [force.normal_force for force in system.forces.values()] == [hertz]


def test_materials_give_friction_beside_a_foundation_and_beside_a_law_of_the_users() -> None:
    rubber = nx.Material("rubber", young=5e6, poisson=0.49, friction={"steel": 0.7})
    for law in ({"foundation_a": 1e8}, {"normal_force": hertz}, {}):
        system = nx.System("ball")
        system.add_body("ball", mass=1.0, inertia=(0.004,) * 3, shapes=[nx.Sphere(RADIUS)])
        system.add_contact(nx.Contact("touch", "ball", material_a=rubber, material_b="steel", **law))
        (force,) = system.forces.values()
        assert force.law(system.values).friction == 0.7
    with pytest.raises(nx.InputError, match="material of one side; give material_b"):
        system.add_contact(nx.Contact("half", "ball", foundation_a=1e8, material_a="steel"))


CHOSEN = [
    nx.DormandPrince(), nx.BogackiShampine32(), nx.DOP853(), nx.Projection(), nx.Baumgarte(), nx.HHT(), nx.HHT(rtol=1e-4),
]  # fmt: skip
"""Methods that choose their steps."""


@numba.njit
def up_to_8_mm(depth, rate):  # type: ignore[no-untyped-def]
    return 1e4 * depth if depth < 0.008 else math.nan


@pytest.mark.parametrize("method", CHOSEN, ids=str)
def test_a_step_that_goes_where_the_law_has_no_number_is_tried_again_and_shorter(method: nx.Method) -> None:
    """The motion itself comes to 7.3 mm; thrown from higher it goes beyond 8 mm, and every method says so at the time at which it does."""
    system, start = thrown("ground", normal_force=up_to_8_mm)
    deep = nx.simulate(system, 0.2, method, **start).contacts("touch").penetration.values.max()
    assert 0.0070 < deep < 0.0074
    start["q0"] = {"ball": (1, 0, 0, 0, 0, 0, 0.15)}
    with pytest.raises(nx.SolveError, match="'touch ball ground' gives a value that is not finite") as refused:
        nx.simulate(system, 0.2, method, **start)
    assert refused.value.time == pytest.approx(0.109778, abs=3e-6)
