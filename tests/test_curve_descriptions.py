"""Points on curves and surfaces, and rows of the user's own: how they are described, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest
from curve_lab import SLOW, bead_on, bowl, helix, hills, law, plain
from numpy.testing import assert_allclose

import nexdyn as nx
from nexdyn.absolute.model.model import absolute_model
from nexdyn.constraints import curve, surface
from nexdyn.describe import from_dict, to_dict
from nexdyn.io.scene import dump_scene, read_scene_text

# --- description ------------------------------------------------------------------------------------------------------


def described() -> nx.System:
    system = nx.System("tracks")
    system.parameter("r", 0.3)
    system.add_body("bead", mass=1.0, inertia=(1, 1, 1), position=(0.3, 0, 0))
    spline = nx.SplineCurve([(0, 0, 0), ("=r", 0, 0), (1, "=2*r", 0)])
    system.add_joint(nx.PointOnCurve("track", "ground", "bead", curve=spline, priority={"Normal": 2}))
    ellipse = nx.ExpressionCurve("=r*cos(s)", "=2*r*sin(s)", nx.Linear(0.0, 0.0), 0, "=2*pi", closed=True)
    system.add_joint(nx.PointOnCurve("loop", "ground", "bead", curve=ellipse, anchor_a=(0, 0, "=r")))
    for given in (
        nx.SphereSurface("=r"), nx.CylinderSurface(0.2), nx.PlaneSurface(), nx.EllipsoidSurface((1, "=r", 2)),
        nx.TorusSurface(1.0, "=r"),
    ):  # fmt: skip
        system.add_joint(nx.PointOnSurface(type(given).__name__, "ground", "bead", surface=given))
    return system


def test_curves_and_surfaces_go_through_data_and_scenes() -> None:
    system = described()
    for other in (from_dict(to_dict(system)), read_scene_text(dump_scene(system)).system):
        assert to_dict(other) == to_dict(system)
        assert_allclose(absolute_model(other).tables.data, absolute_model(system).tables.data)


def test_curves_follow_parameters() -> None:
    model = absolute_model(described().with_parameters({"r": 0.5}))
    data = model.tables.data
    k = int(model.tables.terms[2, 2])
    assert_allclose(curve.jet(data, k, 0.0)[0], (0.5, 0, 0))


@pytest.mark.parametrize(
    "joint",
    [
        nx.UserConstraint("own", "ground", "bead", law),
        nx.PointOnCurve("own", "ground", "bead", curve=nx.UserCurve(helix, 0, 1)),
        nx.PointOnSurface("own", "ground", "bead", surface=nx.ImplicitSurface(bowl)),
    ],
)
def test_what_is_written_in_python_cannot_be_written_to_a_scene(joint: nx.Joint) -> None:
    system = described()
    system.add_joint(joint.copied())
    with pytest.raises(nx.InputError, match=r"'own'.* cannot be written"):
        dump_scene(system)
    with pytest.warns(nx.NexDynWarning, match="leaves out what is written in Python: joint 'own'"):
        assert "own" not in to_dict(system, lossy=True)["joints"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "{type: user_constraint, parent: ground, child: bead}",
            "joint 'j': type user_constraint is written in Python, which no file holds",
        ),
        ("{type: point_on_curve, parent: ground, child: bead}", "lacks curve"),
        ("{type: point_on_curve, parent: ground, child: bead, curve: {type: circle}}", "no curve type 'circle'"),
        (
            "{type: point_on_curve, parent: ground, child: bead, curve: {type: user_curve}}",
            "type user_curve is written in Python",
        ),
        ("{type: point_on_curve, parent: ground, child: bead, curve: 3}", "curve of joint 'j' is 3"),
        ("{type: point_on_surface, parent: ground, child: bead, surface: {type: sphere_surface}}", "lacks radius"),
    ],
)
def test_a_scene_that_means_nothing_is_refused(text: str, message: str) -> None:
    scene = "bodies: {bead: {mass: 1}}\njoints:\n  j: " + text + "\n"
    with pytest.raises(nx.FileError, match=message):
        read_scene_text(scene)


# --- what is refused --------------------------------------------------------------------------------------------------


def on(**options: Any) -> nx.Joint:
    return nx.PointOnCurve("track", "ground", "bead", **{"curve": nx.SplineCurve([(0, 0, 0), (1, 0, 0)]), **options})


def over(given: Any, **options: Any) -> nx.Joint:
    return nx.PointOnSurface("floor", "ground", "bead", surface=given, **options)


def own(function: Any = law, **options: Any) -> nx.Joint:
    return nx.UserConstraint("own", "ground", "bead", function, **options)


def circle_of(**options: Any) -> Any:
    return nx.ExpressionCurve(**{"x": "=cos(s)", "y": "=sin(s)", "z": 0.0, "start": 0, "end": 3, **options})


@pytest.mark.parametrize(
    ("joint", "message"),
    [
        (lambda: on(curve=None), "curve of joint 'track' is None"),
        (lambda: on(at=(0, 0, 0)), "joint 'track' takes no at: give anchor_a"),
        (lambda: on(axis_b=(0, 0, 1)), "takes no axis_b"),
        (lambda: on(damping=1.0), "takes no damping"),
        (lambda: on(curve=nx.SplineCurve([(0, 0, 0)])), "SplineCurve has 1 points; 2 or more"),
        (lambda: on(curve=nx.SplineCurve([(0, 0, 0), (1, 0, 0)], closed=True)), "has 2 points; 3 or more"),
        (lambda: on(curve=nx.SplineCurve([(0, 0, 0), (1, 0, 0), (1, 0, 0)])), r"points\[1\] and points\[2\] .* the same"),
        (lambda: on(curve=nx.SplineCurve([(0, 0, 0), (1, 0)])), r"points\[1\] of SplineCurve has 2 components"),
        (lambda: on(curve=nx.SplineCurve([(0, 0, 0), (1, 0, np.nan)])), "is nan"),
        (lambda: on(curve=nx.SplineCurve([(0, 0, 0), (1, 0, "=r")])), "no parameter 'r'"),
        (lambda: on(curve=circle_of(end=-1)), "goes from start = 0 to end = -1"),
        (lambda: on(curve=circle_of(closed=True)), "is said to be closed, but its ends are"),
        (lambda: on(curve=circle_of(x="=1/s")), "no finite value at t = 0"),
        (lambda: on(curve=nx.UserCurve(lambda s: 1.0, 0, 1)), "gives no point"),
        (lambda: nx.UserCurve(3.0, 0, 1), r"f of UserCurve is 3.0; a function \(s\) is needed"),
        (lambda: over(None), "surface of joint 'floor' is None"),
        (lambda: over(nx.SphereSurface(0.0)), "radius of SphereSurface is 0; it must be greater than 0"),
        (lambda: over(nx.SphereSurface(np.nan)), "radius of SphereSurface is nan"),
        (lambda: over(nx.EllipsoidSurface((1, 0, 1))), "semi_axes of EllipsoidSurface"),
        (lambda: over(nx.TorusSurface(0.1, 0.2)), "tube of TorusSurface is 0.2; it must be less"),
        (lambda: over(nx.ParametricSurface(hills, (1, 0), (0, 1))), "u of ParametricSurface goes from 1 to 0"),
        (lambda: over(nx.ImplicitSurface(bowl, size=0.0)), "size of ImplicitSurface is 0"),
        (lambda: own(3.0), r"function of joint 'own' is 3.0; a function \(t, x, R\) is needed"),
        (lambda: own(gradient=3.0), r"gradient of joint 'own' is 3.0; a function \(t, x, R, out\)"),
        (lambda: own(unit="deg"), "unit of joint 'own' is 'deg'; m and rad are valid"),
        (lambda: own(size=-1.0), "size of joint 'own' is -1"),
        (lambda: own(at=(0, 0, 0)), "joint 'own' takes no at"),
        (lambda: own(priority={"Normal": 1}), "no equation 'Normal'"),
    ],
)  # fmt: skip
def test_what_means_nothing_is_refused(joint: Callable[[], nx.Joint], message: str) -> None:
    with pytest.raises(nx.InputError, match=message):
        absolute_model(bead_on(joint()))


@SLOW
def test_a_function_that_raises_is_named_with_its_time() -> None:
    @numba.njit
    def compiled(t: float, x: np.ndarray, R: np.ndarray) -> float:
        if t > 1.0:
            raise ValueError("too late")
        return x[0]

    for function in (compiled, plain(compiled)):
        model = absolute_model(bead_on(own(function)))
        assert model.residual(model.q, 0.5) == 0.0
        for ask in (model.residual, model.jacobian):
            with pytest.raises(nx.SolveError, match="joint 'own' raised ValueError: too late at t = 2 s"):
                ask(model.q, 2.0)


@SLOW
def test_functions_without_a_value_are_named() -> None:
    model = absolute_model(bead_on(own(lambda t, x, R: np.nan)))
    with pytest.raises(nx.SolveError, match="joint 'own' gives a value that is not finite at t = 0 s"):
        model.residual(model.q)
    with pytest.raises(nx.InputError, match=r"the curve of joint 'track' has no point .* it raised ZeroDivisionError"):
        absolute_model(
            bead_on(on(curve=nx.UserCurve(lambda s: (s, 1 / (s - 0.5) if 0.3 < s < 0.7 and 1 / 0 else 0, 0), 0, 1)))
        )
    with pytest.raises(nx.InputError, match="the gradient of the surface of joint 'floor' is 0"):
        absolute_model(bead_on(over(nx.ImplicitSurface(lambda x, y, z: x * x + y * y - z * z)), position=(0, 0, 0)))


def test_a_compiled_function_of_the_wrong_kind_is_refused() -> None:
    @numba.njit
    def fills(t: float, x: np.ndarray, R: np.ndarray, out: np.ndarray) -> float:
        return 1.0

    with pytest.raises(nx.InputError, match=r"joint 'own': user function 'fills' returns .*must fill out"):
        absolute_model(bead_on(own(gradient=fills)))
    with pytest.raises(nx.InputError, match="curve of joint 'track': f of UserCurve gives no point"):
        absolute_model(bead_on(on(curve=nx.UserCurve(law, 0, 1))))


@SLOW
def test_plain_python_works_and_says_so_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nexdyn.model.callbacks._said_that_python_is_slow", False)
    with pytest.warns(nx.NexDynWarning, match="is plain Python") as caught:
        for _ in range(2):
            absolute_model(bead_on(own(lambda t, x, R: float(x[0]))))
    assert len([w for w in caught if "plain Python" in str(w.message)]) == 1


@pytest.mark.parametrize("joint", [on, own, lambda: over(nx.PlaneSurface())])
def test_an_open_tree_refuses_them(joint: Callable[[], nx.Joint]) -> None:
    with pytest.raises(nx.InputError, match="is a constraint only"):
        nx.Tree(bead_on(joint()))


def test_surfaces_say_their_ranges() -> None:
    data = np.array(nx.ParametricSurface(hills, (-1, 1), (0, 2), closed_w=True).row({}))
    assert surface.ranges(data, 0) == [("u", -1.0, 1.0), ("w", -np.inf, np.inf)]


def test_a_closed_spline_whose_first_point_is_repeated_but_for_rounding_is_refused() -> None:
    s = np.linspace(0.0, 2.0 * np.pi, 9)  # sin 2π is not 0
    curve = nx.SplineCurve(points=np.column_stack([np.cos(s), np.zeros(9), np.sin(s)]).tolist(), closed=True)
    with pytest.raises(nx.InputError, match=r"points\[8\] and points\[0\] .* are the same; leave one out"):
        nx.assemble(bead_on(nx.PointOnCurve("track", "ground", "bead", curve=curve), position=(1, 0, 0)))
