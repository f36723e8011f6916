"""One concept, one word in the public face: what an argument is called, what it takes, and that options are named."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import nexdyn as nx

FUNCTIONS = {name: getattr(nx, name) for name in nx.__all__ if inspect.isfunction(getattr(nx, name))}
OTHER_WORDS = {
    "times": "output_times, when motion is computed",
    "start": "initial, the state to start from; guess, of parameters; of a film, where it begins",
    "state": "initial, or at",
    "processes": "jobs",
    "workers": "jobs, or threads",
    "steps": "output_every, or max_iterations",
}
ALLOWED = {("save_video", "start")}
POSITIONAL = {
    "load": 1, "open_result": 1, "simulate": 3, "kinematics": 2, "assemble": 1, "equilibrium": 1, "inverse_kinematics": 2,
    "inverse_dynamics": 3, "linearize": 2, "sensitivity": 3, "calibrate": 3, "sweep": 2, "stability": 3, "compare": 3, "agreement": 3,
    "distance": 2, "clearance": 3, "interferences": 1, "integrable": 3, "add_rotor": 3, "convex_parts": 3, "mass_properties": 2,
    "save_scene": 4, "save_still": 5, "save_urdf": 2, "save_video": 2, "record": 2, "verify": 1, "verify_against": 2, "demos": 0,
    "materials": 0, "hertz": 2, "hertz_line": 2, "register": 1,
}  # fmt: skip
"""How many arguments may be given without their names: what is computed of what."""


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_uses_the_common_words_and_takes_its_options_by_name(name: str) -> None:
    given = inspect.signature(FUNCTIONS[name]).parameters.values()
    wrong = {x.name: OTHER_WORDS[x.name] for x in given if x.name in OTHER_WORDS and (name, x.name) not in ALLOWED}
    assert not wrong
    positional = [x.name for x in given if x.kind in (x.POSITIONAL_ONLY, x.POSITIONAL_OR_KEYWORD)]
    assert len(positional) == POSITIONAL[name], positional


def arm() -> nx.System:
    system = nx.System("arm")
    upper = system.add_body("upper", mass=1.0, inertia=(0.1, 0.1, 0.01), position=(0.0, 0.0, -0.5))
    lower = system.add_body("lower", mass=0.5, inertia=(0.05, 0.05, 0.01), position=(0.0, 0.0, -1.5))
    system.add_joint(nx.Revolute("shoulder", system.ground, upper, axis=(0.0, 1.0, 0.0), stiffness=20.0))
    system.add_joint(nx.Revolute("elbow", upper, lower, at=(0.0, 0.0, -1.0), axis=(0.0, 1.0, 0.0), stiffness=8.0))
    return system


Q, V = [0.3, -0.7], [1.5, 0.2]
Q_BY_JOINT, V_BY_JOINT = (
    dict(zip(("shoulder", "elbow"), Q, strict=True)),
    dict(zip(("shoulder", "elbow"), V, strict=True)),
)


def test_coordinates_are_given_as_an_array_or_by_joint_everywhere() -> None:
    a, b = nx.assemble(arm(), q0=Q, v0=V), nx.assemble(arm(), q0=Q_BY_JOINT, v0=V_BY_JOINT)
    assert np.array_equal(a.q, b.q) and np.array_equal(a.v, b.v) and abs(a.v).max() > 1.0
    at = nx.simulate(arm(), 1e-3, nx.RungeKutta4(1e-3), q0=Q, v0=V)
    assert a.position("lower") == pytest.approx(at.position("lower").values[0], abs=1e-14)
    for method in (nx.RungeKutta4(1e-3), nx.HHT(dt=1e-3), nx.ImplicitEuler(1e-3)):
        runs = [nx.simulate(arm(), 2e-3, method, q0=q, v0=v) for q, v in ((Q, V), (Q_BY_JOINT, V_BY_JOINT))]
        assert np.array_equal(*(run.position("lower").values for run in runs))
    assert nx.equilibrium(arm(), q0=Q).report.q == pytest.approx(
        nx.equilibrium(arm(), q0=Q_BY_JOINT).report.q, abs=1e-12
    )
    wanted = {"lower": a.position("lower") + np.array([0.05, 0.0, 0.02])}
    found = [nx.inverse_kinematics(arm(), wanted, q0=q).joints for q in (Q, Q_BY_JOINT)]
    assert found[0].keys() == found[1].keys() and all(np.array_equal(found[0][k], found[1][k]) for k in found[0])
    lines = [nx.linearize(arm(), q0=q, v0=v, frozen=True).A for q, v in ((Q, V), (Q_BY_JOINT, V_BY_JOINT))]
    assert np.array_equal(*lines)


@pytest.mark.parametrize("wrong", [[0.1], [0.1, 0.2, 0.3], [np.nan, 0.0], "half"])
def test_an_array_that_does_not_fit_is_refused_by_name(wrong: object) -> None:
    for analysis in (nx.assemble, nx.equilibrium):
        with pytest.raises(nx.InputError, match="q0"):
            analysis(arm(), q0=wrong)


def test_an_assembly_starts_from_another() -> None:
    system = arm()
    before = nx.assemble(system, q0=Q, v0=V)
    same = nx.assemble(system, initial=before)
    assert same.q == pytest.approx(before.q, abs=1e-15) and same.v == pytest.approx(before.v, abs=1e-15)
    bent = nx.assemble(system, initial=before, q0={"elbow": 0.2})
    assert bent.position("upper") == pytest.approx(before.position("upper"), abs=1e-12)
    assert abs(bent.position("lower") - before.position("lower")).max() > 0.1
    with pytest.raises(nx.InputError, match="initial is the report of another system, 'arm'"):
        nx.assemble(arm(), initial=before)
    with pytest.raises(nx.InputError, match="initial is a str; the report of nx"):
        nx.assemble(system, initial="there")


def test_a_sensitivity_has_no_other_start_than_q0_and_v0() -> None:
    with pytest.raises(nx.InputError, match="give these instead of initial"):
        nx.sensitivity(arm(), 0.1, "upper.mass", initial=nx.assemble(arm()))


def test_what_is_shown_at_a_prompt_is_a_line() -> None:
    """Not all arrays of it."""
    system = arm()
    run, rest = nx.simulate(system, 0.01), nx.equilibrium(system)
    shown = [
        system, run, nx.assemble(system), nx.assemble(system).redundancy, rest, nx.linearize(system, rest),
        nx.linearize(system, rest, modes=2), nx.inverse_dynamics(system, run), nx.sensitivity(system, 0.01, ["gravity[2]"]),
        nx.Tree(system), nx.Session(system), nx.Batch(),
        nx.inverse_kinematics(system, {"lower": {"position": (0.5, 0.0, -0.5)}}),
    ]  # fmt: skip
    for one in shown:
        text = repr(one)
        assert text.startswith(f"{type(one).__name__}(") and len(text) < 110 and "\n" not in text, text


def test_runs_and_assemblies_start_from_an_equilibrium() -> None:
    system = arm()
    rest = nx.equilibrium(system)
    for start in (rest, rest.report):
        run = nx.simulate(system, 0.01, initial=start)
        assert run.joint_velocity("shoulder").values == pytest.approx(0.0, abs=1e-9)
        assert nx.assemble(system, initial=start).q == pytest.approx(rest.report.q, abs=1e-12)
        assert nx.Session(system, initial=start).latest().joint_position("elbow").values[-1] == pytest.approx(
            rest.joint("elbow")[0]
        )
