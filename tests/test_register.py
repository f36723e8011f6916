"""Forces from outside the package: registered, checked by name, and then like those of the package."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any, ClassVar

import numba
import numpy as np
import pytest
from pages_lab import Cubic, Linear, OwnSpring, WithSlopes, ends, law_of_spring, spring_of, swinging

import nexdyn as nx
from nexdyn.batch.simulation import keeps_apart
from nexdyn.errors import FileError, InputError, SolveError
from nexdyn.pages import Force, Vec3
from nexdyn.pages.registering import forget

METHODS = [nx.RungeKutta4(2e-3), nx.DormandPrince(rtol=1e-9, atol=1e-11), nx.HHT(dt=2e-3), nx.ImplicitEuler(2e-3)]
of_all_methods = pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)


@pytest.fixture(autouse=True)
def registered() -> None:
    for page in (OwnSpring, WithSlopes, Cubic, Linear):
        nx.register(page)


def last(result: nx.Result) -> np.ndarray:
    """Where the second link ends."""
    return ends(result)[-1]


def stored(result: nx.Result) -> float:
    """The elastic energy at the end."""
    return float(result.energy().elastic.values[-1])


# --- like those of the package ----------------------------------------------------------------------------------------


@of_all_methods
def test_a_registered_force_moves_bodies_as_the_same_force_of_the_package(method: Any) -> None:
    """ImplicitEuler steps through the energy of its own springs, and through forces by a rule of its own: as a UserForce there."""
    own = nx.simulate(swinging(spring_of(OwnSpring)), 0.2, method)
    sloped = nx.simulate(swinging(spring_of(WithSlopes)), 0.2, method)
    known = spring_of(nx.PointSpring)
    if isinstance(method, nx.ImplicitEuler):
        known = nx.UserForce(
            "spring", "lower", "ground", anchor_a=known.anchor_a, at_b=known.at_b, function=numba.njit(law_of_spring)
        )
    other = nx.simulate(swinging(known), 0.2, method)
    assert np.abs(last(own) - last(other)).max() < 1e-9  # at the end: adaptive steps differ by rounding
    assert np.abs(last(own) - last(sloped)).max() < 1e-9
    if not isinstance(method, nx.ImplicitEuler):
        assert stored(own) == pytest.approx(stored(other), abs=1e-9)


@of_all_methods
def test_a_registered_effort_moves_a_joint_as_its_own_spring_and_damper(method: Any) -> None:
    own = nx.simulate(swinging(effort=Linear("effort", "hip", k=30.0, d=0.6)), 0.2, method)
    known = nx.simulate(swinging(stiffness=30.0, damping=0.6), 0.2, method)
    assert np.abs(last(own) - last(known)).max() < 1e-12
    assert stored(own) == pytest.approx(stored(known), abs=1e-12)


@pytest.mark.parametrize("method", [nx.RungeKutta4(2e-3), nx.HHT(dt=2e-3)], ids=["loops", "HHT"])
def test_a_registered_force_acts_in_closed_loops(method: Any) -> None:
    own = nx.simulate(swinging(spring_of(OwnSpring), loop=True), 0.1, method)
    known = nx.simulate(swinging(spring_of(nx.PointSpring), loop=True), 0.1, method)
    assert np.abs(ends(own) - ends(known)).max() < 1e-9


def test_what_it_stores_counts_in_the_balance_of_energy() -> None:
    spring = OwnSpring("spring", "lower", "ground", at_b=(0.9, 0.3, -1.6), stiffness=40.0, length=0.6)
    result = nx.simulate(
        swinging(spring, effort=Cubic("stop", "hip", k=20.0)), 0.5, nx.DormandPrince(rtol=1e-10, atol=1e-12)
    )
    assert result.energy_drift < 1e-8
    assert float(np.ptp(result.energy().elastic.values)) > 0.1
    damped = nx.simulate(swinging(spring_of(OwnSpring)), 0.01, nx.RungeKutta4(2e-3))
    assert result.not_conservative == ["force 'spring'", "force 'stop'"] and damped.not_conservative == [
        "force 'spring'"
    ]


def test_members_of_a_batch_march_in_lanes_and_move_as_alone() -> None:
    system, method, values = swinging(effort=Cubic("stop", "hip", k=20.0)), nx.RungeKutta4(2e-3), [30.0, 40.0, 50.0]
    system.parameter("k", 40.0)
    system.add_force(
        OwnSpring("spring", "lower", "ground", at_b=(0.9, 0.3, -1.6), stiffness="=k", damping=0.8, length=0.6)
    )
    assert not keeps_apart(system, method, "aba")
    batch = nx.simulate(system, 0.1, method, batch={"parameters": {"k": values}})
    for m, k in enumerate(values):
        alone = nx.simulate(system.with_parameters({"k": k}), 0.1, method)
        assert np.abs(ends(batch.member(m)) - ends(alone)).max() < 1e-12
        assert batch.member(m).energy().elastic.values == pytest.approx(alone.energy().elastic.values, abs=1e-12)


def test_it_rests_and_is_linearized_as_the_same_force_of_the_package() -> None:
    own, known = (swinging(spring_of(cls)) for cls in (OwnSpring, nx.PointSpring))
    rests = [nx.equilibrium(system) for system in (own, known)]
    linear = [nx.linearize(system, at) for system, at in zip((own, known), rests, strict=True)]
    assert np.asarray(linear[0].A) == pytest.approx(np.asarray(linear[1].A), rel=1e-5, abs=1e-5)


def test_no_kernel_is_compiled_for_it(tmp_path: Path) -> None:
    method = nx.RungeKutta4(2e-3)
    nx.simulate(swinging(spring_of(nx.PointSpring)), 0.01, method).energy()
    before = kernels()
    nx.simulate(swinging(spring_of(OwnSpring)), 0.01, method).energy()
    assert kernels() == before


def kernels() -> set[str]:
    """The files of the kernel cache."""
    return {str(path) for path in Path(os.environ["NEXDYN_CACHE_DIR"]).rglob("*.nbc")}


# --- files ------------------------------------------------------------------------------------------------------------


def test_scenes_name_it_by_its_type(tmp_path: Path) -> None:
    system = swinging(spring_of(OwnSpring), effort=Cubic("stop", "hip", k=20.0))
    nx.save_scene(system, tmp_path / "own.yaml")
    text = (tmp_path / "own.yaml").read_text(encoding="utf-8")
    assert "type: own_spring" in text and "type: cubic" in text
    read = nx.load(tmp_path / "own.yaml")
    assert type(read.forces["spring"]) is OwnSpring
    assert {name: f.data(read.values) for name, f in read.forces.items()} == {
        n: f.data({}) for n, f in system.forces.items()
    }


def test_its_numbers_are_expressions_of_parameters() -> None:
    system = swinging()
    system.parameter("k", 20.0)
    spring = system.add_force(OwnSpring("spring", "lower", "ground", at_b=(1, 0, 0), stiffness="=2*k"))
    assert spring.data(system.values)[4] == 40.0
    changed = system.with_parameters({"k": 5.0})
    assert changed.forces["spring"].data(changed.values)[4] == 10.0


def test_a_file_with_a_page_that_is_not_registered_says_so(tmp_path: Path) -> None:
    nx.simulate(swinging(spring_of(OwnSpring)), 0.01, nx.RungeKutta4(2e-3)).save(tmp_path / "run.nc")
    nx.save_scene(swinging(spring_of(OwnSpring)), tmp_path / "own.yaml")
    assert np.isfinite(ends(nx.Result.load(tmp_path / "run.nc"))).all()
    for page in (OwnSpring, WithSlopes, Cubic, Linear):
        forget(page)
    for file, read in (("run.nc", nx.Result.load), ("own.yaml", nx.load)):
        with pytest.raises(FileError, match=r"no force type 'own_spring'.* registered first: nx\.register\(page\)"):
            read(tmp_path / file)


def test_a_system_with_it_can_be_sent_to_another_process() -> None:
    system = swinging(spring_of(OwnSpring))
    nx.simulate(system, 0.01, nx.RungeKutta4(2e-3))
    again = pickle.loads(pickle.dumps(system))
    assert again.forces["spring"].data({}) == system.forces["spring"].data({})


# --- refused ----------------------------------------------------------------------------------------------------------


def pull(X_WA: Any, X_WB: Any) -> Any:
    f = X_WB.p - X_WA.p
    return Force(Vec3(0.0, 0.0, 0.0), f), Force(Vec3(0.0, 0.0, 0.0), -f)


def one_sided(X_WA: Any, X_WB: Any) -> Any:
    return Force(Vec3(0.0, 0.0, 0.0), X_WB.p), Force(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))


def windy(X_WA: Any, wind: Any) -> Any:
    return X_WA, wind


def not_finite(X_WA: Any) -> Any:
    x = (X_WA.p.x - X_WA.p.x) * 1e400
    return Force(X_WA.p, X_WA.p), Force(x * X_WA.p, X_WA.p)


def too_much(X_WA: Any, X_WB: Any) -> float:
    p = X_WB.p - X_WA.p
    return p @ p


def fitting(X_WA: Any, X_WB: Any) -> float:
    p = X_WB.p - X_WA.p
    return 0.5 * (p @ p)


def soft(gh: Any, bh2: Any, K: Any) -> None:
    K[3, 3] += bh2


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no function": ({}, r"the page Page has no wrenches; it needs wrenches"),
    "not balanced": ({"wrenches": one_sided}, r"wrenches of Page: F_A and F_B do not balance in force and moment"),
    "not given": ({"wrenches": windy}, r"wrenches of Page takes wind; given are t, X_WA, X_WB, V_A, V_B"),
    "not finite": ({"wrenches": not_finite}, r"wrenches of Page gives a value that is not finite"),
    "energy": ({"wrenches": pull, "energy": too_much}, r"energy of Page: −U̇ is not the power of the force at rest"),
    "slopes": ({"wrenches": pull, "slopes": soft}, r"slopes of Page: its stiffness is not the symmetric part"),
    "no kind": ({"wrenches": pull, "kind": "a page"}, r"kind of Page is 'a page'; a name like 'magnet' is needed"),
    "kind taken": ({"wrenches": pull, "kind": "bushing"}, r"kind of Page is 'bushing', which Bushing has"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_page_that_is_wrong_is_refused_by_name(what: str) -> None:
    given, message = REFUSED[what]
    page = type("Page", (nx.ForcePage,), {"kind": "page", **given})
    with pytest.raises(InputError, match=message):
        nx.register(page)


def test_a_page_that_fits_is_taken() -> None:
    page: Any = type("Page", (nx.ForcePage,), {"kind": "page", "wrenches": pull, "energy": fitting})
    assert nx.register(page) is page
    assert page("pull", "a", "b").kind == "page"


def test_a_page_that_numba_cannot_compile_is_refused() -> None:
    def effort(q: Any) -> Any:
        return Path(str(q)).stat().st_size

    with pytest.raises(InputError, match="effort of Odd cannot be compiled by Numba"):
        nx.register(type("Odd", (nx.EffortPage,), {"kind": "odd", "effort": effort}))


def test_energy_that_grows_is_refused_unless_the_page_drives() -> None:
    class Motor(nx.EffortPage):
        kind = "motor_page"

        @staticmethod
        def effort(q: Any, v: Any) -> Any:
            return -q + 0.5 * v

        @staticmethod
        def energy(q: Any) -> Any:
            return 0.5 * q * q

    with pytest.raises(InputError, match="energy of Motor: with motion the force gives power beyond"):
        nx.register(Motor)
    Motor.drives = True
    nx.register(Motor)


def test_numbers_of_a_page_are_named_where_they_are_wrong() -> None:
    with pytest.raises(InputError, match="OwnSpring: missing a required argument: 'stiffness'"):
        OwnSpring("spring", "a", "b")  # type: ignore[call-arg]
    with pytest.raises(InputError, match=r"OwnSpring has no argument 'stifness'; did you mean 'stiffness'\?"):
        OwnSpring("spring", "a", "b", stifness=1.0)  # type: ignore[call-arg]
    with pytest.raises(InputError, match="Page has a number 't', which means something else"):
        type("Page", (nx.ForcePage,), {"__annotations__": {"t": float}})
    with pytest.raises(InputError, match="reach of Page is 'far' by default; a number is needed"):
        type("Page", (nx.ForcePage,), {"__annotations__": {"reach": float}, "reach": "far"})
    with pytest.raises(
        InputError,
        match=r"nx.register takes a class that derives from nx.JointPage, nx.ForcePage or nx.EffortPage; Bushing does not",
    ):
        nx.register(nx.Bushing)


def test_a_page_that_fails_in_a_run_names_the_force_and_why() -> None:
    class Ends(nx.EffortPage):
        kind = "ends"
        sample: ClassVar[dict[str, float]] = {"last": 100.0}
        last: float

        @staticmethod
        def effort(q: Any, last: Any) -> Any:
            if q > last:
                raise ValueError("beyond the last")
            return 1.0

    nx.register(Ends)
    with pytest.raises(SolveError, match=r"force 'effort' raised ValueError: beyond the last at t = "):
        nx.simulate(swinging(effort=Ends("effort", "hip", last=0.42)), 1.0, nx.RungeKutta4(2e-3))
