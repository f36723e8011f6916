"""Joints from outside the package: their rows hold on their motions, to the second derivative; what does not fit is refused by name."""

from __future__ import annotations

import math
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from joint_pages_lab import Cam, Cardan, Crank, Screw, slider_crank, two_links

import nexdyn as nx
from nexdyn.batch.simulation import keeps_apart
from nexdyn.errors import FileError, InputError
from nexdyn.pages import Force, Mat3, Motion, Pose, Vec3
from nexdyn.pages.registering import forget
from nexdyn.spatial.rotations import exp_rotation


@pytest.fixture(autouse=True)
def registered() -> None:
    for page in (Screw, Cardan):
        nx.register(page)


@pytest.mark.parametrize("cls", [Cam, Crank, Cardan])
def test_rows_of_a_joint_are_zero_on_its_motions_with_their_derivatives(cls: Any, rng: np.random.Generator) -> None:
    made, n = cls.functions(), cls.nv
    block = np.array([made.motion.address, float(n), *(float(x) for x in cls._numbers.values())])
    b = float(block.ctypes.data)

    def pose(q: Any) -> Any:
        x = made.motion(0.0, [b, *q])[:12]
        return x[:9].reshape(3, 3), x[9:]

    for _ in range(4):
        q, v = np.array([rng.uniform(*ends) for ends in cls.ranges]), rng.normal(size=n)
        R, x = pose(q)
        for i in range(6 - n):

            def value(R: Any, x: Any, i: int = i) -> float:
                return float(made.value(0.0, [*x, *R.ravel(), i, b])[0])

            def gradient(R: Any, x: Any, i: int = i) -> Any:
                return made.gradient(0.0, [*x, *R.ravel(), i, b])[:6]

            def moving(t: float, q: Any = q, v: Any = v) -> Any:
                (R, _), V = pose(q + t * v), made.motion(1.0, [b, *(q + t * v)])[: 6 * n].reshape(n, 6).T @ v
                return np.array([*(R @ V[3:]), *V[:3]])

            h = 1e-5
            along_x = [(value(R, x + h * e) - value(R, x - h * e)) / (2 * h) for e in np.eye(3)]
            turned = [
                (value(R @ exp_rotation(h * e), x) - value(R @ exp_rotation(-h * e), x)) / (2 * h) for e in np.eye(3)
            ]
            assert abs(value(R, x)) < 1e-14
            assert gradient(R, x) == pytest.approx([*along_x, *turned], abs=1e-8)
            z = moving(0.0)  # C_zz(z, z) + C_z z' = 0 along the motion
            ahead, behind = (gradient(R @ exp_rotation(s * z[3:]), x + s * z[:3]) for s in (h, -h))
            assert gradient(R, x) @ z == pytest.approx(0.0, abs=1e-12)
            assert (ahead - behind) / (2 * h) @ z + gradient(R, x) @ (moving(h) - moving(-h)) / (
                2 * h
            ) == pytest.approx(0.0, abs=1e-7)


def test_a_joint_that_fits_is_taken_and_hangs_on_a_tree() -> None:
    for page in (Cam, Crank):
        assert nx.register(page) is page
    system = nx.System("cam", gravity=(0.3, 0.2, -9.81))
    system.add_body("a", mass=1.2, inertia=(0.1, 0.09, 0.02), com=(0.1, 0.05, 0.0))
    system.add_body("b", mass=0.7, inertia=(0.05, 0.06, 0.02), com=(0.3, 0.0, -0.1), position=(0.5, 0, 0))
    system.add_joint(Cam("cam", "ground", "a", at=(0, 0, 0), axis=(0.1, 0.2, 1.0)))
    system.add_joint(Crank("crank", "a", "b", at=(0.5, 0, 0), axis=(0, 1, 0.2)))
    tree = nx.Tree(system)
    q, v, a = np.array([0.4, 0.3, 0.1]), np.array([1.5, -1.0, 0.4]), np.array([0.3, -0.2, 0.7])
    tau = tree.rnea(q, v, a)
    assert tree.aba(q, v, tau) == pytest.approx(a, abs=1e-12)
    assert tree.crba(q) @ a + tree.rnea(q, v, 0 * a) == pytest.approx(tau, abs=1e-12)
    with pytest.raises(InputError, match="a registered joint whose columns of H are not at right angles"):
        tree.cfa(q, v, tau)


# --- like those of the package ----------------------------------------------------------------------------------------

STEP = 2e-3
CLOSE = {
    "rk4": (nx.RungeKutta4(STEP), 1e-12), "semi": (nx.SemiImplicitEuler(STEP), 1e-12),
    "pair": (nx.DormandPrince(rtol=1e-9, atol=1e-11), 1e-7),
    "hht": (nx.HHT(dt=STEP), 1e-8), "adaptive": (nx.HHT(rtol=1e-6), 1e-4), "implicit": (nx.ImplicitEuler(STEP), 1e-4),
    "bdf2": (nx.ImplicitEuler(STEP, bdf2=True), 1e-4), "index1": (nx.Baumgarte(STEP), 1e-7), "projected": (nx.Projection(STEP), 1e-9),
    "partitioned": (nx.Partitioning(STEP), 1e-9),
}  # fmt: skip
"""Methods, and how near coordinates, velocities and poses of both must be."""


def motion(result: nx.Result, tree: bool = True) -> np.ndarray:
    """How it ends."""
    body = [*result.position("b").values[-1], *result.velocity("b").values[-1]]
    joints = [
        getattr(result, name)(joint).values[-1] for name in ("joint_position", "joint_velocity") for joint in "uh"
    ]
    return np.hstack([*body, *(joints if tree else [])])


@pytest.mark.parametrize(
    ("what", "loop"), [(w, loop) for loop in (False, True) for w in CLOSE if not (loop and w == "pair")]
)
def test_it_moves_bodies_as_the_same_joint_of_the_package(what: str, loop: bool) -> None:
    method, close = CLOSE[what]
    own, known = (nx.simulate(two_links(o, loop), 0.06, method) for o in (True, False))
    assert np.abs(motion(own) - motion(known)).max() < close
    for joint in "uh":
        forces = own.reaction(joint).values[-1], known.reaction(joint).values[-1]
        assert np.abs(forces[0] - forces[1]).max() < 1e3 * close
    assert float(np.abs(known.reaction("h").values[-1]).max()) > 1.0


@pytest.mark.parametrize("cut", [None, "u"])
@pytest.mark.parametrize("stabilise", ["projection", "baumgarte"])
def test_it_may_be_where_a_loop_is_cut(cut: str | None, stabilise: Any) -> None:
    loops = nx.Loops(stabilise=stabilise, cut=[cut] if cut else None)
    runs = [nx.simulate(slider_crank(own), 0.05, nx.RungeKutta4(STEP), loops=loops) for own in (True, False)]
    ends = [np.hstack([r.position("slider").values[-1], r.reaction("u").values[-1]]) for r in runs]
    assert np.abs(ends[0] - ends[1]).max() < 1e-7
    assert abs(ends[0][0] - 0.7) > 1e-3


@pytest.mark.parametrize("method", [nx.RungeKutta4(STEP), nx.HHT(dt=STEP)], ids=["rk4", "hht"])
def test_efforts_and_friction_act_in_it(method: Any) -> None:
    ends = []
    for own in (True, False):
        system = two_links(own, damping=0.5, friction=0.1)
        system.add_force(nx.JointForce("motor", "h", 0.3))
        result = nx.simulate(system, 0.05, method)
        ends.append((motion(result), result.energy().total.values[-1], result.transmitted("h").values))
    assert np.abs(ends[0][0] - ends[1][0]).max() < 1e-8
    assert ends[0][1] == pytest.approx(ends[1][1], abs=1e-8)
    assert np.abs(ends[0][2] - ends[1][2]).max() < 1e-8 < np.abs(ends[0][2]).max()


def test_it_turns_many_times_in_absolute_coordinates() -> None:
    ends = []
    for own in (True, False):
        system = nx.System("screw", gravity=(0, 0, -9.81))
        system.add_body("b", mass=1.0, inertia=(0.1, 0.1, 0.1))
        system.add_joint((Screw if own else nx.Helical)("h", "ground", "b", pitch=0.1, v0=30.0))
        result = nx.simulate(system, 0.3, nx.HHT(dt=STEP))
        ends.append(np.hstack([result.position("b").values[-1], result.joint_position("h").values[-1]]))
    assert np.abs(ends[0] - ends[1]).max() < 1e-8 and ends[1][3] > 8.0


def following(own: bool) -> nx.System:
    """A third body on a screw that mimics the second."""
    system, screw = two_links(own), Screw if own else nx.Helical
    system.add_body("c", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1, 0, 0))
    mimic = nx.Mimic("h", 2.0)
    system.add_joint(screw("m", "b", "c", at=(1, 0, 0), axis=(1, 0, 0), pitch=0.2, mimic=mimic))
    return system


def test_it_mimics_and_has_stops_and_actuators_in_minimal_coordinates() -> None:
    ends = []
    for own in (True, False):
        system = following(own)
        system.add_force(nx.JointStop("stop", "h", lower=-0.1, upper=0.32, stiffness=1e3))
        system.add_force(nx.PositionActuator("servo", "u", kp=10.0, kd=1.0, target=0.5))
        ends.append(motion(nx.simulate(system, 0.05, nx.RungeKutta4(STEP))))
    assert np.abs(ends[0] - ends[1]).max() < 1e-10


def test_springs_and_armature_act_in_it_in_minimal_coordinates() -> None:
    own, known = (
        nx.simulate(two_links(o, stiffness=5.0, rest=0.1, armature=0.05), 0.05, nx.RungeKutta4(STEP))
        for o in (True, False)
    )
    assert np.abs(motion(own) - motion(known)).max() < 1e-12
    assert own.energy().elastic.values == pytest.approx(known.energy().elastic.values, abs=1e-12)


def test_members_of_a_batch_march_in_lanes_and_move_as_alone() -> None:
    q0, method = np.linspace(-0.2, 0.3, 9).reshape(3, 3), nx.RungeKutta4(STEP)
    system = two_links(True)
    assert not keeps_apart(system, method, "aba")
    batch = nx.simulate(system, 0.02, method, batch={"q0": q0})
    for m, q in enumerate(q0):
        assert np.abs(motion(batch.member(m)) - motion(nx.simulate(system, 0.02, method, q0=q))).max() < 1e-12


def test_members_of_a_batch_may_have_numbers_of_their_own() -> None:
    system, method, values = nx.System("one", gravity=(0, 0.5, -9.81)), nx.RungeKutta4(STEP), [0.1, 0.2, 0.3]
    system.parameter("h", 0.1)
    system.add_body("b", mass=1.0, inertia=(0.1, 0.1, 0.1), com=(0.1, 0, 0))
    system.add_joint(Screw("h", "ground", "b", pitch="=h"))
    batch = nx.simulate(system, 0.1, method, batch={"parameters": {"h": values}})
    ends = [batch.member(m).position("b").values[-1] for m in range(3)]
    for h, end in zip(values, ends, strict=True):
        alone = nx.simulate(system.with_parameters({"h": h}), 0.1, method)
        assert np.abs(end - alone.position("b").values[-1]).max() < 1e-12
    assert abs(ends[0][2] - ends[2][2]) > 1e-3


def test_the_members_of_a_batch_under_hht_run_one_by_one() -> None:
    q0 = np.linspace(-0.2, 0.3, 6).reshape(2, 3)
    batch = nx.simulate(two_links(True), 0.01, nx.HHT(dt=STEP), batch={"q0": q0})
    for m, q in enumerate(q0):
        assert (
            np.abs(motion(batch.member(m)) - motion(nx.simulate(two_links(False), 0.01, nx.HHT(dt=STEP), q0=q))).max()
            < 1e-8
        )


def test_algorithms_on_trees_agree_in_lanes_and_with_derivatives() -> None:
    own, known = (nx.Tree(two_links(o)) for o in (True, False))
    q, v, a = np.array([0.4, 0.3, 0.1]), np.array([1.5, -1.0, 0.4]), np.array([0.3, -0.2, 0.7])
    many = np.array([q, q + 0.1, q - 0.2] * 4)
    one, all_ = (q, v, a), (many,) * 3
    cases: list[Any] = [
        ("rnea", one),
        ("aba", one),
        ("crba", one[:1]),
        ("coriolis", one[:2]),
        ("aba", all_),
        ("rnea", all_),
    ]
    for algorithm, given in cases:
        x, y = (getattr(tree, algorithm)(*given) for tree in (own, known))
        assert np.abs(x - y).max() < 1e-11, algorithm
    for algorithm in ("rnea_derivatives", "aba_derivatives"):
        for x, y in zip(*(getattr(tree, algorithm)(q, v, a) for tree in (own, known)), strict=True):
            assert np.abs(np.asarray(x) - np.asarray(y)).max() < 1e-8, algorithm
    assert np.abs(own.cfa(q, v, a)[0] - known.cfa(q, v, a)[0]).max() < 1e-10


def test_it_is_assembled_at_rest_and_linearized_as_the_same_joint_of_the_package() -> None:
    own, known = (two_links(o, loop=True) for o in (True, False))
    assert np.abs(nx.assemble(own).q - nx.assemble(known).q).max() < 1e-10
    assert not nx.assemble(own).redundancy.redundant
    rests = [nx.equilibrium(system) for system in (own, known)]
    assert np.abs(rests[0].position("b") - rests[1].position("b")).max() < 1e-7
    systems = [two_links(o, stiffness=5.0) for o in (True, False)]
    A = [np.asarray(nx.linearize(system, frozen=True).A) for system in systems]
    assert np.abs(A[0] - A[1]).max() < 1e-8 * np.abs(A[1]).max()


def test_efforts_and_poses_are_found_as_with_the_same_joint_of_the_package() -> None:
    run = nx.simulate(two_links(False, damping=0.2), 0.02, nx.RungeKutta4(1e-3))
    table = {joint: run.joint_position(joint).values for joint in "uh"}
    efforts = [nx.inverse_dynamics(two_links(own), table, run.t) for own in (True, False)]
    assert np.abs(efforts[0].effort("h") - efforts[1].effort("h")).max() < 1e-9
    target = {"b": (0.5, 0.13, -0.02)}
    postures = [nx.inverse_kinematics(two_links(own), target) for own in (True, False)]
    assert all(posture.reached for posture in postures)


@pytest.mark.parametrize("method", [nx.RungeKutta4(STEP), nx.HHT(dt=STEP)], ids=["rk4", "hht"])
def test_a_run_goes_on_from_memory_and_from_a_file(method: Any, tmp_path: Path) -> None:
    system = two_links(True)
    whole, half = nx.simulate(system, 0.04, method), nx.simulate(system, 0.02, method)
    half.save(tmp_path / "half.nc")
    for initial in (half, nx.Result.load(tmp_path / "half.nc")):
        again = nx.simulate(system, 0.04, method, initial=initial)
        assert np.abs(motion(again) - motion(whole)).max() < 1e-12


# --- files and pictures -----------------------------------------------------------------------------------------------


def test_scenes_name_it_by_its_type(tmp_path: Path) -> None:
    nx.save_scene(two_links(True), tmp_path / "own.yaml")
    text = (tmp_path / "own.yaml").read_text(encoding="utf-8")
    assert "type: own_screw" in text and "type: own_cardan" in text
    read = nx.load(tmp_path / "own.yaml")
    assert type(read.joints["h"]) is Screw and read.joints["h"].number_of("pitch", read.values) == 0.1
    ends = [motion(nx.simulate(s, 0.02, nx.RungeKutta4(STEP))) for s in (read, two_links(False))]
    assert np.abs(ends[0] - ends[1]).max() < 1e-12


def test_a_file_with_a_page_that_is_not_registered_says_so(tmp_path: Path) -> None:
    nx.save_scene(two_links(True), tmp_path / "own.yaml")
    forget(Screw)
    with pytest.raises(FileError, match=r"no joint type 'own_screw'.*registered first: nx\.register\(page\)"):
        nx.load(tmp_path / "own.yaml")


def test_a_system_with_it_can_be_sent_to_another_process() -> None:
    sent = pickle.dumps(two_links(True))
    forget(Screw)
    result = nx.simulate(pickle.loads(sent), 0.02, nx.RungeKutta4(STEP))
    assert np.abs(motion(result) - motion(nx.simulate(two_links(False), 0.02, nx.RungeKutta4(STEP)))).max() < 1e-12


def test_no_kernel_is_compiled_for_another_page_and_none_of_systems_without() -> None:
    assert nx.Tree(two_links(True)).compiled.model.topology.kind.dtype == np.int32
    assert nx.Tree(two_links(False)).compiled.model.topology.kind.dtype == np.int64
    for own in (True, False):
        motion(nx.simulate(two_links(own), 0.01, nx.RungeKutta4(STEP)))
    before = kernels()
    nx.register(Cam)
    system = nx.System("cam", gravity=(0, 0, -9.81))
    system.add_body("b", mass=1.0, inertia=(0.1, 0.1, 0.1))
    system.add_joint(Cam("u", "ground", "b", v0=3.0))
    assert np.isfinite(nx.simulate(system, 0.01, nx.RungeKutta4(STEP)).reaction("u").values).all()
    motion(nx.simulate(two_links(False), 0.01, nx.RungeKutta4(STEP)))
    assert kernels() == before


def kernels() -> set[str]:
    """The files of the kernel cache."""
    return {str(path) for path in Path(os.environ["NEXDYN_CACHE_DIR"]).rglob("*.nbc")}


def test_it_is_drawn_and_recorded(tmp_path: Path) -> None:
    result = nx.simulate(two_links(True), 0.02, nx.RungeKutta4(STEP))
    nx.save_still(result, tmp_path / "own.png")
    nx.record(result, tmp_path / "own.html")
    assert (tmp_path / "own.png").stat().st_size > 1000 and (tmp_path / "own.html").stat().st_size > 10_000
    with pytest.raises(
        InputError, match=r"joint 'u' is own_cardan, which URDF does not have .* what can be written: fixed"
    ):
        nx.save_urdf(two_links(True), tmp_path / "own.urdf")


# --- refused ----------------------------------------------------------------------------------------------------------


def test_what_it_cannot_do_is_refused_by_its_name() -> None:
    hht, step = nx.HHT(dt=STEP), 2 * STEP
    with pytest.raises(
        InputError, match=r"the stiffness of joint 'h' depends on an angle of joint 'h', own_screw, .* take RungeKutta4"
    ):
        nx.simulate(two_links(True, stiffness=3.0), step, hht)
    with pytest.raises(
        InputError, match=r"joint 'h', own_screw, is a registered joint with armature, .* on a tree RungeKutta4"
    ):
        nx.simulate(two_links(True, armature=0.1), step, hht)
    with pytest.raises(
        InputError, match=r"joint 'h', own_screw, has no coordinate for an effort .* use an AppliedForce or a UserForce"
    ):
        nx.simulate(two_links(True, damping=0.1), step, nx.ImplicitEuler(STEP))
    with pytest.raises(InputError, match=r"driver 'd': joint 'h' \(own_screw\) has no coordinate that can be driven"):
        driven = two_links(True)
        driven.add_driver(nx.Driver("d", "h", nx.Linear(0.0, 1.0)))
        nx.simulate(driven, step, hht)
    with pytest.raises(
        InputError,
        match=r"q0 of joint 'h' \(own_screw\): in a mechanism with loops .* describe the pose of body 'b'",
    ):
        nx.assemble(two_links(True, loop=True), q0={"h": 0.1})
    with pytest.raises(
        InputError, match=r"joint 'h', own_screw, is a registered joint with armature, which mechanisms with loops"
    ):
        nx.simulate(two_links(True, loop=True, armature=0.1), step, nx.RungeKutta4(STEP))
    for method in (hht, nx.ImplicitEuler(STEP)):
        with pytest.raises(
            InputError, match=r"joint 'm' \(own_screw\) is a registered joint, .* it mimics in minimal coordinates"
        ):
            nx.simulate(following(True), step, method)
    with pytest.raises(InputError, match=r"limits of joint 'h' \(own_screw\), .* limits=False"):
        nx.inverse_kinematics(two_links(True, limits=(-1.0, 1.0)), {"b": (0.5, 0.0, 0.0)})


def flat(q: Any) -> Any:
    return Motion(Vec3(0.0, 0.0, 1.0), Vec3(0.0, 0.0, 0.0))


def elsewhere(R: Any) -> Any:
    return 2.0 * math.atan2(R.yx - R.xy, R.xx + R.yy)


def within_a_turn(R: Any) -> Any:
    return math.atan2(R.yx - R.xy, R.xx + R.yy)


def resting(q: Any, v: Any) -> Any:
    return Motion(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))


def nowhere(q: Any) -> Any:
    c = math.cos(q) * math.sqrt(-1.0 - q * q)
    return Pose(Mat3(c, 0.0, 0.0, 0.0, c, 0.0, 0.0, 0.0, c), Vec3(c, 0.0, 0.0))


def sheared(q: Any, lift: Any) -> Any:
    c, s = math.cos(q), math.sin(q)
    return Pose(Mat3(c, -s, 0.1, s, c, 0.0, 0.0, 0.0, 1.0), Vec3(0.0, 0.0, lift * (1.0 - math.cos(2.0 * q))))


def working() -> Any:
    o = Vec3(0.0, 0.0, 0.0)
    x, y, z = Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0)
    return Force(x, o), Force(y, o), Force(o, x), Force(o, y), Force(z, o)


def tilting(q: Any) -> Any:
    return Cardan.motion_subspace(q)


def windy(q: Any, wind: Any) -> Any:
    return wind


def uncompiled(R: Any) -> Any:
    return Path(str(R)).stat().st_size


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "H": ({"motion_subspace": flat}, r"motion_subspace of Wrong: column 0 is not the derivative of pose by q\[0\]"),
    "inverse": ({"coordinates_of": elsewhere}, r"coordinates_of of Wrong: it does not undo pose"),
    "not finite": ({"pose": nowhere}, r"the motion of Wrong (gives a value that is not finite|raises ValueError)"),
    "turns": ({"base": Screw, "coordinates_of": within_a_turn}, r"coordinates_of of Wrong: it does not undo pose"),
    "bias": ({"bias": resting}, r"bias of Wrong: it is not Ḣ q̇ by differences"),
    "missing": ({"pose": None}, r"the page Wrong has no pose; it needs pose, motion_subspace, coordinates_of"),
    "turning": (
        {"turning": ()},
        r"turning of Wrong is \(\); True or False of each of its coordinates is needed, of 1 to 5",
    ),
    "not a rotation": ({"pose": sheared}, r"pose of Wrong: its R is no rotation matrix"),
    "W": ({"constraint_subspace": working}, r"constraint_subspace of Wrong: its forces do work on motion_subspace"),
    "no W": (
        {"turning": (True, True), "motion_subspace": tilting, "ranges": ((-3.0, 3.0),) * 2},
        r"no 4 of the six unit forces stay apart",
    ),
    "not given": ({"bias": windy}, r"bias of Wrong takes wind; given are q, v; numbers of the page: lift"),
    "not compiled": ({"coordinates_of": uncompiled}, r"the motion of Wrong cannot be compiled by Numba"),
    "taken": ({"kind": "revolute"}, r"kind of Wrong is 'revolute', which Revolute has"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_joint_that_is_wrong_is_refused_by_name(what: str) -> None:
    given, message = REFUSED[what]
    with pytest.raises(InputError, match=message):
        nx.register(type("Wrong", (given.get("base", Cam),), {"kind": "wrong", **given}))
