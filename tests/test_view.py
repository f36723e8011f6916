"""What is shown, without a browser: motions, poses, curves' cursors, ports, recordings and their bad input."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import socket
import sys
import threading
import time
import urllib.request
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
import viser
from results_lab import resting_ball

import nexdyn as nx
from nexdyn.errors import FileError, InputError, NexDynError, NexDynWarning, UnknownNameError
from nexdyn.spatial.rotations import rotation_matrix
from nexdyn.view import hands
from nexdyn.view import server as page
from nexdyn.view.camera import look
from nexdyn.view.cards import Card
from nexdyn.view.hands import Shared
from nexdyn.view.motion import Motion, motion_of
from nexdyn.view.panels import MOST_SAMPLES, Plot, telling
from nexdyn.view.picking import Hit
from nexdyn.view.placing import placed, turn_z_to
from nexdyn.view.playback import Playback
from nexdyn.view.poses import Poser, start_pose
from nexdyn.view.recording import _speed, record
from nexdyn.view.stage import FIELD, Look, Stage
from nexdyn.view.viewer import Viewer
from nexdyn.view.words import Words


@pytest.fixture(scope="module")
def chain() -> nx.Result:
    return nx.simulate(nx.load("hinge-chain"), t_end=1.0, method=nx.RungeKutta4(1e-3), output_every=10)


@pytest.fixture
def port() -> int:
    return page.free_port(page.LOOPBACK, 18900)


# --- groups of messages ---------------------------------------------------------------------------------------------


class Slow(dict[int, Any]):
    """What is read by a thread that others interrupt at every message."""

    def get(self, key: int, default: Any = None) -> Any:
        time.sleep(1e-4)
        return super().get(key, default)


def test_a_group_of_messages_reaches_a_browser_whole(port: int) -> None:
    """What a browser gets at once is of one moment, though the next is said while it is read, and groups are large."""
    server = page.start_server(port=port).server
    nodes = [server.scene.add_frame(f"/n{i}", show_axes=False) for i in range(200)]
    buffer, windows = server._websock_server.get_message_buffer(), []
    buffer.message_from_id = Slow(buffer.message_from_id)
    last = 40.0

    async def read() -> None:
        async for window in buffer.window_generator(1 << 20):
            windows.append([m.position[0] for m in window if type(m).__name__ == "SetPositionMessage"])
            if last in windows[-1]:
                return

    try:
        reading = asyncio.run_coroutine_threadsafe(read(), server.get_event_loop())
        for k in range(1, int(last) + 1):
            with page.together(server):
                for node in nodes:
                    with page.together(server):
                        node.position = (float(k), 0.0, 0.0)
            time.sleep(0.02)
        reading.result(timeout=60)
    finally:
        page.stop_server(server)
    moved = [window for window in windows if max(window, default=0.0) > 0.0]
    assert len(moved) > 3
    assert all(len(window) == len(nodes) and len(set(window)) == 1 for window in moved)


def test_a_group_begins_on_the_servers_own_thread_and_after_its_end(port: int) -> None:
    server = page.start_server(port=port).server
    node = server.scene.add_frame("/n", show_axes=False)
    buffer = server._websock_server.get_message_buffer()

    async def from_the_loop() -> int:
        with page.together(server):
            node.position = (1.0, 0.0, 0.0)
            return int(buffer.atomic_counter)

    assert asyncio.run_coroutine_threadsafe(from_the_loop(), server.get_event_loop()).result(timeout=60) == 1
    assert buffer.atomic_counter == 0
    with pytest.raises(ZeroDivisionError), page.together(server):
        1 / 0  # noqa: B018
    assert buffer.atomic_counter == 0
    page.stop_server(server)
    with page.together(server):
        assert buffer.atomic_counter == 1
    assert buffer.atomic_counter == 0


# --- motions and poses ----------------------------------------------------------------------------------------------


def test_a_motion_is_the_result_at_its_samples(chain: nx.Result) -> None:
    motion = Motion.of(chain)
    position, orientation = chain.position().values, chain.orientation().values
    for k in (0, 37, 100):
        frame = motion.at(float(chain.t[k]))
        np.testing.assert_allclose(frame.position[:-1], position[k], atol=1e-6)
        np.testing.assert_allclose(rotation_matrix(frame.quaternion[:-1].astype(float)),
                                   rotation_matrix(orientation[k]), atol=1e-5)  # fmt: skip
        assert frame.wrench is not None
        np.testing.assert_allclose(frame.wrench, chain.reaction().values[k], rtol=1e-5, atol=1e-4)
        np.testing.assert_array_equal(frame.position[-1], 0.0)  # the ground


@pytest.mark.parametrize(
    ("demo", "method"), [("implicit-euler", nx.ImplicitEuler(0.01)), ("four-bar", nx.RungeKutta4(1e-3))]
)
def test_so_is_one_by_the_potential_and_one_on_a_tree_that_is_closed(demo: str, method: Any) -> None:
    result = nx.simulate(nx.load(demo), t_end=0.1, method=method)
    motion, k = Motion.of(result), len(result.t) // 2
    frame = motion.at(float(result.t[k]))
    np.testing.assert_allclose(frame.position[:-1], result.position().values[k], atol=1e-6)
    assert frame.wrench is not None
    np.testing.assert_allclose(frame.wrench, result.reaction().values[k], rtol=1e-5, atol=1e-4)
    assert np.abs(result.reaction().values[k]).max() > 1.0


def test_between_samples_bodies_are_where_a_finer_result_has_them() -> None:
    options: dict[str, Any] = {"t_end": 1.0, "method": nx.RungeKutta4(1e-3)}
    system = nx.load("hinge-chain")
    coarse = Motion.of(nx.simulate(system, output_every=20, **options))
    fine = Motion.of(nx.simulate(system, output_every=1, **options))
    for t in (0.01, 0.333, 0.79):
        a, b = coarse.at(t), fine.at(t)
        np.testing.assert_allclose(a.position, b.position, atol=2e-3)  # v̇ dt²/8 at |v̇| ≈ 40 m/s²
        np.testing.assert_allclose(np.linalg.norm(a.quaternion, axis=1), 1.0, atol=1e-6)
        assert (np.abs(np.sum(a.quaternion * b.quaternion, axis=1)) > 1 - 1e-5).all()


def test_outside_its_time_a_motion_stands_at_its_ends(chain: nx.Result) -> None:
    motion = Motion.of(chain)
    np.testing.assert_array_equal(motion.at(-1.0).position, motion.at(motion.start).position)
    np.testing.assert_array_equal(motion.at(99.0).position, motion.at(motion.end).position)


def test_a_long_motion_keeps_as_many_samples_as_fit(chain: nx.Result, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nexdyn.view.motion.MOST_BYTES", 5000)
    monkeypatch.setattr("nexdyn.results.observed.KEPT_BYTES", 0)
    monkeypatch.setattr("nexdyn.results.observed.BLOCK_BYTES", 15_000)
    motion = Motion.of(nx.Result(chain.system, chain.recording))
    assert 10 < len(motion.times) < 30 and len(motion.position) == len(motion.times)
    for k in (0, len(motion.times) // 2, len(motion.times) - 1):
        expected = chain.position().sel(time=motion.times[k]).values
        np.testing.assert_allclose(motion.position[k], expected, atol=1e-6)


def test_a_path_is_where_the_point_was(chain: nx.Result) -> None:
    motion = Motion.of(chain)
    body, _, p = chain.system.frame("tip")
    path = motion.path((motion.body(body.name), p), 0.2, 0.8, 1000)
    expected = chain.position("tip").sel(time=slice(0.2 - 1e-9, 0.8 - 1e-9)).values
    np.testing.assert_allclose(path, expected, atol=1e-5)


def test_placing_composes_poses() -> None:
    rng = np.random.default_rng(3)
    q, p = rng.normal(size=(5, 4)), rng.normal(size=(5, 3))
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    frame = Motion.still(nx.load("double-pendulum")).at(0.0)._replace(position=p[:3], quaternion=q[:3])
    rows = np.array([2, 0])
    at, turned = placed(frame, rows, q[3:], p[3:])
    for k, row in enumerate(rows):
        R_WB, R_BS = rotation_matrix(q[row]), rotation_matrix(q[3 + k])
        np.testing.assert_allclose(at[k], p[row] + R_WB @ p[3 + k], atol=1e-12)
        np.testing.assert_allclose(rotation_matrix(turned[k]), R_WB @ R_BS, atol=1e-12)


@pytest.mark.parametrize("up", [(0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 0, -1), (0.6, 0, 0.8)])
def test_the_grid_lies_across_gravity(up: tuple[float, ...]) -> None:
    np.testing.assert_allclose(rotation_matrix(turn_z_to(np.array(up, dtype=float)))[:, 2], up, atol=1e-12)


def test_a_system_stands_as_a_run_starts() -> None:
    system = nx.load("hinge-chain")
    poses = start_pose(system)
    assert poses is not None
    start = nx.simulate(system, t_end=1e-3)
    np.testing.assert_allclose(poses[1], start.position().values[0], atol=1e-12)


def test_a_mechanism_with_loops_stands_as_assembled() -> None:
    system = nx.load("four-bar")
    poses, report = start_pose(system), nx.assemble(system)
    assert poses is not None
    np.testing.assert_allclose(poses[1], [report.position(name) for name in system.bodies], atol=1e-12)


def test_sliders_have_the_limits_of_the_joints() -> None:
    found = {c.label: c for c in Poser(nx.load("hinge-chain")).dials}
    assert list(found) == [f"hinge{i}" for i in range(1, 7)]
    assert found["hinge1"].value == pytest.approx(np.pi / 2)
    assert all(c.lower < c.value < c.upper for c in found.values())


def test_a_loop_stays_closed_where_one_joint_is_moved_and_what_it_cannot_reach_is_refused() -> None:
    system = nx.load("slider-crank")
    poser = Poser(system)
    name = next(c.label for c in poser.dials)
    q = poser.move(name, 0.6)
    assert poser.follows
    assert q[poser.tree.coordinates[name].q][0] == pytest.approx(0.6, abs=1e-9)
    assert np.abs(nx.ClosedTree(system).residual(q)).max() < 1e-9
    slider = next(joint.name for joint in system.joints.values() if joint.kind == "prismatic")
    if slider not in poser.tree.coordinates:
        pytest.fail("the slider is cut; take another mechanism")
    with pytest.raises(nx.NexDynError):
        poser.move(slider, 50.0)
    again = poser.move(name, 0.6)
    np.testing.assert_allclose(again, q, atol=1e-9)
    stretched = Poser(
        system
    )  # as described: crank and rod in line, where the loop closed beside what was asked for, without a word
    start = stretched.move(name, 0.0)
    for far in (0.95, -0.5):
        with pytest.raises(nx.NexDynError, match=slider):
            stretched.move(slider, far)
    np.testing.assert_allclose(stretched.move(name, 0.0), start, atol=1e-9)


def test_the_card_of_a_body_tells_the_contact_forces_on_it() -> None:
    result = nx.simulate(resting_ball(), t_end=2.0, method=nx.RungeKutta4(1e-3), output_every=50)
    (name,) = result.system.bodies
    rows = {row.name: row for row in Card(Motion.of(result), "body", name, Words()).rows(result.recording.t[-1])}
    weight = result.system.bodies[name].resolved({}).mass * -result.system.gravity
    np.testing.assert_allclose(rows["contact force|ground"].values, weight, atol=1e-3 * np.linalg.norm(weight))
    text = Card(Motion.of(result), "body", name, Words()).text(result.recording.t[-1])
    assert "contact with ground" in text


def test_of_a_simulation_the_last_state_is_seen() -> None:
    class Other:
        """A simulation that tells no more than its result."""

        def __init__(self, simulation: nx.Simulation) -> None:
            self.system, self.result = simulation.system, simulation.result

    simulation = nx.Simulation(nx.load("hinge-chain"), nx.RungeKutta4(1e-3), output_every=10)
    result = simulation.run(0.2)
    for what in (simulation, Other(simulation)):
        motion = motion_of(what)
        assert motion.times.tolist() == [pytest.approx(0.2)]
        np.testing.assert_allclose(motion.position[0], result.position().values[-1], atol=1e-6)


def test_late_times_and_far_bodies_are_shown_as_exactly_as_others() -> None:
    """viser leaves out what differs from the last value by less than 1e-5 of its size."""
    system = nx.System("far away")
    system.add_body("probe", mass=1.0, inertia=(1, 1, 1), shapes=[nx.Box((1, 1, 1))])
    t = np.array([5000.0, 5001.0])
    p = np.array([[[1000.0, 0.0, 0.0]], [[1000.3, 0.0, 0.0]]], dtype=np.float32)
    q = np.tile(np.array([1.0, 0.0, 0.0, 0.0], dtype=np.float32), (2, 1, 1))
    with Viewer(Motion(system, t, ["probe"], p, q), port=page.free_port(page.LOOPBACK, 18650)) as viewer:
        stage = viewer._desk.stage
        for now in (5000.0, 5000.033, 5000.0330001):
            stage.show(now)
            assert stage._clock.position[0] == now
        _, body, _ = stage.singles[0]
        assert body.position[0] == pytest.approx(1000.0 + 0.3 * 0.033, abs=1e-4)


def test_what_cannot_be_viewed_is_refused() -> None:
    with pytest.raises(InputError, match="cannot be viewed; a Result, a System or a Simulation can"):
        motion_of("run.nc")


# --- the time that runs -----------------------------------------------------------------------------------------------


def test_time_runs_as_fast_as_the_speed_says() -> None:
    time = Playback(1.0, 5.0)
    for speed in (1.0, 0.1, 2.0):
        time.seek(1.0)
        time.play(speed)
        for _ in range(10):
            time.advance(0.04)
        assert time.t == pytest.approx(1.0 + 0.4 * speed)
    time.playing = False
    time.advance(0.1)
    assert time.t == pytest.approx(1.8)


def test_time_ends_at_the_end_and_begins_again_where_it_repeats() -> None:
    time = Playback(0.0, 1.0)
    assert time.playing
    shown = []
    for _ in range(6):
        time.advance(0.4)
        shown.append(time.t)
    assert shown == pytest.approx([0.4, 0.8, 1.0, 0.0, 0.4, 0.8])  # the end is seen once
    time.repeats = False
    time.advance(0.4)
    assert time.t == 1.0 and not time.playing
    time.play()
    assert time.t == 0.0 and time.playing


def test_after_a_pause_of_the_machine_time_leaps_by_half_a_second_at_most() -> None:
    time = Playback(0.0, 100.0)
    time.advance(30.0)
    assert time.t == 0.5


def test_one_moment_does_not_play() -> None:
    time = Playback(2.0, 2.0)
    time.play()
    assert not time.playing and time.t == 2.0


# --- plots' data ----------------------------------------------------------------------------------------------------


def test_of_many_samples_the_extremes_stay() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(size=(20_000, 3))
    values[12_345, 1] = 99.0
    rows = telling(values)
    assert len(rows) < 10 * MOST_SAMPLES and {0, 12_345, 19_999} <= set(rows.tolist())
    assert (np.diff(rows) > 0).all()
    np.testing.assert_array_equal(telling(values[:50]), np.arange(50))


@pytest.mark.parametrize("now", [-1.0, 0.0, 0.35, 0.5, 1.0, 7.0])
def test_the_cursor_ends_the_past_at_the_shown_time(now: float) -> None:
    plot = Plot(None, None, 0.0, Words("en"))
    plot._x, plot._t = np.linspace(0.0, 1.0, 11), now
    plot._y = np.column_stack([plot._x**2, -plot._x])
    x, squares, falling, past = plot._data()
    shown = min(max(now, 0.0), 1.0)
    assert (np.diff(x) >= 0).all() and len(x) == 13
    assert x[past == 1.0].max() == shown == x[past == 0.0].min()
    np.testing.assert_allclose(falling, -x)
    np.testing.assert_allclose(squares, np.interp(x, plot._x, plot._x**2))


# --- the address ----------------------------------------------------------------------------------------------------


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as other:
        other.bind((page.LOOPBACK, 0))
        other.listen()
        yield other.getsockname()[1]


def test_where_a_port_is_in_use_the_next_free_one_is_taken_and_said(taken: int) -> None:
    with (
        pytest.warns(NexDynWarning, match=rf"port {taken} is in use; took {taken + 1}|took \d+"),
        Viewer(nx.load("double-pendulum"), port=taken) as viewer,
    ):
        assert viewer.server.get_port() > taken
        with urllib.request.urlopen(viewer.address, timeout=10) as answer:
            assert answer.status == 200


def test_the_page_is_served_to_this_machine_only(port: int) -> None:
    with Viewer(nx.load("double-pendulum"), port=port) as viewer:
        assert viewer.server.get_host() == "127.0.0.1" and viewer.address.startswith(f"http://127.0.0.1:{port}/")
        other = next((a[4][0] for a in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)), "127.0.0.1")
        if not other.startswith("127."):
            with pytest.raises(OSError):
                socket.create_connection((other, port), timeout=2).close()


SAME = "http://{host}"


def asked(port: int, path: str, host: str, origin: str, to_socket: bool) -> int:
    """The status that the viewer answers a raw request with."""
    lines = [f"GET {path} HTTP/1.1", *([f"Host: {host}"] if host else [])]
    if origin:
        lines.append(f"Origin: {origin.format(host=host)}")
    if to_socket:
        key = base64.b64encode(bytes(16)).decode()
        lines += ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {key}"]
        lines += [f"Sec-WebSocket-Protocol: viser-v{viser.__version__}"]
    with socket.create_connection((page.LOOPBACK, port), timeout=10) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        return int(connection.recv(64).split()[1])


def test_the_page_and_its_socket_answer_only_to_their_address_their_origin_and_their_token(port: int) -> None:
    with Viewer(nx.load("double-pendulum"), port=port) as viewer:
        token = urlsplit(viewer.address).path.strip("/")
        assert len(token) >= 22
        here, page_path, socket_path = f"127.0.0.1:{port}", f"/{token}/", f"/{token}"
        assert asked(port, page_path, here, "", False) == 200
        assert asked(port, page_path + "?fixedDpr=1", here, SAME, False) == 200
        for host in (here, f"localhost:{port}", f"[::1]:{port}", "127.0.0.1:9000"):  # 9000: forwarded by ssh
            assert asked(port, socket_path, host, SAME, True) == 101
        assert asked(port, page_path + "../../secret", here, "", False) == 404
        for host in (
            "evil.example",
            f"evil.example:{port}",
            f"127.0.0.1.evil.example:{port}",
            "",
            "127.0.0.1@evil.example",
            "[::",
        ):
            assert asked(port, page_path, host, "", False) in (400, 403)
            assert asked(port, socket_path, host, SAME, True) in (400, 403)
        for origin in (
            "",
            "null",
            "http://evil.example",
            f"http://localhost:{port}",
            "http://127.0.0.1:1",
            f"http://{here}.evil.example",
        ):
            assert asked(port, socket_path, here, origin, True) == 403
        for path in ("/", "", f"/?{token}", "/wrong/", f"/{token[:-1]}", f"/{token}x", f"/x/{token}", "/%ff"):
            assert asked(port, path or "/", here, SAME, True) == 403
            assert asked(port, path or "/", here, "", False) == 403
        assert not viewer.watched


def test_each_viewer_has_a_token_of_its_own(port: int) -> None:
    with Viewer(nx.load("double-pendulum"), port=port) as one, Viewer(nx.load("double-pendulum"), port=port + 1) as two:
        assert urlsplit(one.address).path != urlsplit(two.address).path


def test_a_server_that_cannot_be_guarded_does_not_live(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with a viser that starts its server otherwise."""
    monkeypatch.setattr(page, "guarded", lambda gate: contextlib.nullcontext())
    with pytest.raises(NexDynError, match="cannot be guarded"):
        page.start_server(port=port)
    with pytest.raises(OSError):
        socket.create_connection((page.LOOPBACK, port), timeout=2).close()


def test_an_ended_viewer_frees_its_port(port: int) -> None:
    for _ in range(2):
        with Viewer(nx.load("double-pendulum"), port=port) as viewer:
            assert viewer.server.get_port() == port
        assert viewer.ended and "ended" in repr(viewer)
        viewer.close()  # again does nothing


@pytest.mark.parametrize(
    ("host", "port", "message"),
    [
        ("127.0.0.1", 0, "port is 0; a whole number from 1 to 65535 is needed"),
        ("127.0.0.1", 70_000, "port is 70000"),
        ("127.0.0.1", "80", "port is '80'"),
        ("203.0.113.7", 18_900, "is no address of this machine"),
        ("no.such.host.invalid", 18_900, "host 'no.such.host.invalid' is not known"),
    ],
)
def test_a_bad_address_is_refused(host: str, port: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Viewer(nx.load("double-pendulum"), host=host, port=port)


def test_over_ssh_the_command_that_forwards_is_told(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"):
        monkeypatch.delenv(name, raising=False)
    with Viewer(nx.load("double-pendulum"), port=port) as viewer:
        assert page.hint(viewer.server, viewer.address) == ""
        monkeypatch.setenv("SSH_CONNECTION", "1.2.3.4 1 5.6.7.8 22")
        hint = page.hint(viewer.server, viewer.address)
        assert f"ssh -L {port}:127.0.0.1:{port} " in hint and hint.endswith(viewer.address)


@pytest.mark.skipif(sys.platform in ("darwin", "win32"), reason="a window is always there")
def test_without_a_display_no_browser_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("webbrowser.open", lambda *_: pytest.fail("a browser was opened"))
    assert page.open_browser("http://127.0.0.1:1") is False


# --- the viewer from a program --------------------------------------------------------------------------------------


def test_a_program_shows_seeks_plays_and_looks(chain: nx.Result, port: int, capsys: pytest.CaptureFixture[str]) -> None:
    viewer = nx.view(chain, port=port, browser=False, wait=False)
    try:
        assert f"127.0.0.1:{port}" in capsys.readouterr().out
        viewer.seek(0.4)
        assert viewer.t == 0.4 and not viewer.playing
        viewer.seek(99.0)
        assert viewer.t == 1.0
        viewer.play(speed=2.0)
        assert viewer.playing and viewer.t < 1.0
        viewer.pause()
        viewer.look(Look(frozenset({"shapes", "trails"}), follow="link3"))
        with pytest.raises(InputError, match="no layer ghosts; layers: shapes"):
            viewer.look(Look(frozenset({"ghosts"})))
        with pytest.raises(UnknownNameError, match="did you mean 'link3'"):
            viewer.look(Look(follow="lnk3"))
        viewer.show(nx.load("double-pendulum"))
        assert viewer.system.name != chain.system.name and not viewer.playing
        assert viewer.address in viewer._repr_html_()
    finally:
        viewer.close()
    assert capsys.readouterr().out == ""


def test_every_kind_of_joint_and_a_body_alone_have_a_scene(port: int) -> None:
    for name in ("four-bar", "bricard", "door", "slider-crank", "double-pendulum"):
        with Viewer(nx.load(name), port=port) as viewer:
            viewer.look(Look(frozenset({"shapes", "joint axes", "body frames", "trails"})))
    system = nx.System("one", gravity=(0, 0, 0))
    system.add_body("stone", mass=1.0, inertia=(1, 1, 1))
    with Viewer(system, port=port):
        pass
    with Viewer(nx.System("nothing"), port=port):
        pass


def test_arrows_of_reactions_are_the_wrenches_at_the_joints(chain: nx.Result, port: int) -> None:
    with Viewer(chain, port=port) as viewer:
        stage: Stage = viewer._desk.stage
        frame = viewer._desk.motion.at(0.5)
        _, columns, scale = stage.wrenches.handles["reaction forces"]
        arrows = stage.wrenches.ends(frame, columns, scale)
    np.testing.assert_allclose(arrows[0, 0], 0.0, atol=1e-6)  # hinge1 is at the origin, its parent the ground
    expected = chain.reaction().sel(time=0.5, method="nearest").values[0, :3]
    R = chain.system.joint("hinge1").frames(chain.system.values).R_AJ
    np.testing.assert_allclose(arrows[0, 1] / scale, R @ expected, rtol=1e-4, atol=1e-3)


@pytest.fixture(scope="module")
def rested() -> nx.Result:
    return nx.simulate(resting_ball(), 1.0, nx.RungeKutta4(1e-4), output_every=100)


def test_arrows_of_contacts_are_the_forces_where_they_act(rested: nx.Result, port: int) -> None:
    motion, told = Motion.of(rested), rested.contacts("touch")
    assert motion.contact is not None
    np.testing.assert_allclose(motion.contact[:, 0, :3], told.point.values.reshape(-1, 3), atol=1e-6)
    np.testing.assert_allclose(motion.contact[:, 0, 3:], told.force.values.reshape(-1, 3), rtol=1e-5, atol=1e-4)
    with Viewer(rested, port=port) as viewer:
        stage = viewer._desk.stage
        (resting,) = stage.contacts.ends(motion.at(1.0), 1.0)
        (flying,) = stage.contacts.ends(motion.at(0.0), 1.0)
        scale = stage.contacts.scale
    np.testing.assert_allclose(resting[0], (0, 0, 0), atol=0.01)  # below the ball, on the ground
    np.testing.assert_allclose(resting[1] - resting[0], (0, 0, 2.0 * 9.81 * scale), rtol=0.02, atol=1e-4)
    assert np.linalg.norm(flying) > 100 * stage.size  # out of sight


def test_the_arrow_of_an_impact_is_no_longer_than_the_scene(rested: nx.Result) -> None:
    motion = Motion.of(rested)
    assert motion.contact is not None
    hardest = int(np.linalg.norm(motion.contact[:, 0, 3:], axis=1).argmax())
    frame = motion.at(float(motion.times[hardest]))
    ends = motion.contact_arrows(frame, 1e3, 0.5)
    assert np.linalg.norm(ends[0, 1] - ends[0, 0]) == pytest.approx(0.5)


def test_a_motion_without_contacts_has_none(chain: nx.Result) -> None:
    motion = Motion.of(chain)
    assert motion.contact is None and motion.at(0.5).contact is None and motion.contact_scale(1.0) == 0.0


# --- the camera -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["hinge-chain", "four-bar", "bricard"])
def test_the_page_is_seen_from_where_pictures_are_taken(name: str, port: int) -> None:
    system = nx.load(name)
    with Viewer(system, port=port) as viewer:
        stage = viewer._desk.stage
        first = stage.camera()
        initial = viewer.server.initial_camera
        np.testing.assert_allclose(initial.position, first.eye, atol=1e-9)
        np.testing.assert_allclose(initial.look_at, first.target, atol=1e-9)
    points = stage._corners
    picture = look(system, points, 1.0)
    np.testing.assert_allclose(first.R_CW, picture.R_CW, atol=1e-12)  # from the same side, at the same height
    for aspect in (0.4, 1.0):
        camera = stage.camera(aspect)
        d = (points - camera.eye) @ camera.R_CW.T
        half = np.tan(FIELD / 2) * -d[:, 2]
        assert (np.abs(d[:, 1]) < half).all() and (np.abs(d[:, 0]) < aspect * half).all()


def test_in_a_notebook_the_page_and_the_recording_are_in_the_cell(tmp_path: Path) -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    cells = [
        "import nexdyn as nx\nr = nx.simulate(nx.load('double-pendulum'), t_end=0.1)",
        f"viewer = nx.view(r, port={page.free_port(page.LOOPBACK, 18950)})\nviewer",
        "viewer.close()\nnx.record(r)",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of Jupyter
        nbclient.NotebookClient(notebook, timeout=200, kernel_name="python3").execute()
    shown = [output["data"]["text/html"] for cell in notebook.cells[1:] for output in cell.outputs if "data" in output]
    assert len(shown) == 2
    assert shown[0].startswith('<iframe src="http://127.0.0.1:') and shown[1].startswith('<iframe srcdoc="')


# --- recordings -----------------------------------------------------------------------------------------------------


def test_a_recording_is_one_file_that_names_no_other(chain: nx.Result, tmp_path: Path) -> None:
    path = tmp_path / "out.html"
    recording = record(chain, path)
    text = path.read_text(encoding="utf-8")
    assert text == recording.text and "<title>hinge chain</title>" in text and "MiB of HTML" in repr(recording)
    head = text[: text.index("<script")]
    assert 'src="http' not in head and 'href="http' not in head


@pytest.mark.parametrize(
    ("span", "speed"), [(10.0, 1.0), (0.05, 0.02), (1e-6, 5e-7), (1000.0, 10.0), (2.0, 1.0), (1.0, 0.5)]
)
def test_a_recording_lasts_neither_too_short_nor_too_long(span: float, speed: float) -> None:
    motion = Motion(nx.System("x"), np.array([0.0, span]), [], np.zeros((2, 0, 3)), np.zeros((2, 0, 4)))
    assert _speed(motion, None) == pytest.approx(speed)
    assert _speed(motion, 3.0) == 3.0


def test_bad_input_of_a_recording_is_refused(chain: nx.Result, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a recording ends in .html"):
        record(chain, tmp_path / "out.mp4")
    with pytest.raises(InputError, match="speed is 0; a number greater than 0"):
        record(chain, speed=0)
    with pytest.raises(InputError, match="no layer ghosts"):
        record(chain, layers={"ghosts"})
    with pytest.raises(UnknownNameError, match="did you mean 'link1'"):
        record(chain, follow="link01")
    with pytest.raises(FileError, match="there is no folder"):
        record(chain, tmp_path / "missing" / "out.html")


def test_a_name_cannot_break_out_of_the_page(tmp_path: Path) -> None:
    system = nx.System("</script><script>alert(1)</script>")
    body = system.add_body("<b>&", mass=1.0, inertia=(1, 1, 1))
    system.add_joint(nx.Revolute("</script>", system.ground, body, at=(0, 0, 0), axis=(0, 1, 0), q0=0.3))
    text = record(nx.simulate(system, t_end=0.01)).text
    assert "<script>alert" not in text and text.count("</script>") == text.count("<script")


def test_without_viser_the_extra_is_named(chain: nx.Result, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(InputError, match=r"the viewer needs viser: pip install 'nexdyn\[view\]'"):
        nx.view(chain)
    with pytest.raises(InputError, match=r"pip install 'nexdyn\[view\]'"):
        record(chain)


# --- inertia --------------------------------------------------------------------------------------------------------


def test_an_ellipsoid_of_inertia_has_the_inertia_of_its_body(port: int) -> None:
    """Of even density, with half axes a, b, c: I = m (b² + c²) / 5 about the first one, turned as it is drawn."""
    system = nx.System("bricks", gravity=(0, 0, -9.81))
    tensor = np.array([[2.0, 0.3, -0.2], [0.3, 1.5, 0.1], [-0.2, 0.1, 1.2]])
    system.add_body("brick", mass=3.0, inertia=tensor, com=(0.1, 0.2, 0.3), position=(1, 2, 3))
    system.add_body("frame", position=(0, 0, 1))
    with Viewer(system, port=port) as viewer:
        handle = viewer._desk.stage.marks["inertia"].handle
        assert len(handle.batched_positions) == 1
        np.testing.assert_allclose(handle.batched_positions[0], (1.1, 2.2, 3.3), atol=1e-6)
        a, b, c = (float(x) for x in handle.batched_scales[0] ** 2)
        principal = 3.0 / 5.0 * np.diag([b + c, a + c, a + b])
        R = rotation_matrix(np.asarray(handle.batched_wxyzs, dtype=float))[0]
        np.testing.assert_allclose(R @ principal @ R.T, tensor, atol=1e-5)


# --- dials ------------------------------------------------------------------------------------------------------------


def joints_of_all_kinds() -> nx.System:
    """Bodies that hang one below the other, by a joint of each kind."""
    system, parent = nx.System("kinds"), "ground"
    for k, joint in enumerate(
        (nx.Revolute, nx.Prismatic, nx.Cylindrical, nx.Universal, nx.Planar, nx.Cartesian, nx.Spherical, nx.Free)
    ):
        body = f"b{k}"
        system.add_body(body, mass=1.0, inertia=(0.1, 0.2, 0.3), position=(0.1 * k, 0, 0))
        system.add_joint(joint(f"j{k}", parent, body, at=(0.1 * k, 0, 0)))
        parent = body
    return system


def test_every_number_of_a_joint_has_a_dial_that_moves_it_alone() -> None:
    system = joints_of_all_kinds()
    poser = Poser(system)
    assert [dial.label for dial in poser.dials] == [
        "j0", "j1", "j2.angle", "j2.z", "j3.angle1", "j3.angle2", "j4.x", "j4.y", "j4.angle", "j5.x", "j5.y", "j5.z",
        "j6: φx", "j6: φy", "j6: φz", "j7: φx", "j7: φy", "j7: φz", "j7.px", "j7.py", "j7.pz",
    ]  # fmt: skip
    assert sum(joint.nv for joint in system.joints.values()) == len(poser.dials)
    units = {dial.label: dial.unit for dial in poser.dials}
    assert [units[x] for x in ("j0", "j1", "j2.angle", "j2.z", "j6: φx", "j7.pz")] == [
        "rad",
        "m",
        "rad",
        "m",
        "rad",
        "m",
    ]
    wanted = {dial.label: 0.05 + 0.01 * k for k, dial in enumerate(poser.dials)}
    for label, value in wanted.items():
        q = poser.move(label, value)
    told = {dial.label: dial.of(poser.of_joint(dial.joint, q)) for dial in poser.dials}
    assert told == pytest.approx(wanted, abs=1e-12)


def test_sliders_tell_the_pages_units_and_write_all_numbers_of_a_joint(port: int) -> None:
    system = joints_of_all_kinds()
    with Viewer(system, port=port) as viewer:
        controls = viewer._desk.controls
        sliders = {slider.label: slider for slider in controls._sliders}
        assert {"j0 [rad]", "j2.z [m]", "j6: φy [rad]"} <= set(sliders)
        dials = {dial.label: dial for dial in controls._dials}
        controls.put(dials["j2.z"], 0.25)
        controls.put(dials["j6: φy"], 0.5)
        before = viewer._desk.frame
        viewer.units(True)
        sliders = {slider.label: slider for slider in controls._sliders}
        assert sliders["j2.z [mm]"].value == pytest.approx(250.0) and sliders["j6: φy [°]"].value == pytest.approx(
            np.rad2deg(0.5)
        )
        assert sliders["j2.z [mm]"].max == pytest.approx(500.0) and viewer._desk.frame is before
        controls.put(dials["j0"], 90.0)
        moved = controls.moved
        assert set(moved) == {"j0", "j2", "j6"}
        assert moved["j0"] == pytest.approx(np.pi / 2) and moved["j2"] == pytest.approx([0.0, 0.25])
        assert moved["j6"] == pytest.approx([np.cos(0.25), 0.0, np.sin(0.25), 0.0])
        session = nx.Session(system, q0=moved)
        assert session.latest().joint_position("j2").values.ravel() == pytest.approx([0.0, 0.25])


def by_hand(viewer: Viewer, control: Any, value: Any) -> None:
    """Set a control of the page as a browser does: in the loop of the server, with its callbacks."""

    async def handle() -> None:
        state = control._impl
        state.value = value
        for callback in state.update_cb:
            done = callback(SimpleNamespace(client=1, client_id=1, target=control))
            if asyncio.iscoroutine(done):
                await done

    asyncio.run_coroutine_threadsafe(handle(), viewer.server.get_event_loop()).result(10.0)


def test_boxes_that_two_hands_click_at_once_both_count(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second click comes while the first one is still acted on; neither is written back to what was before."""
    with Viewer(nx.load("double-pendulum"), port=port) as viewer:
        controls, look, entered, go = viewer._desk.controls, viewer.look, threading.Event(), threading.Event()

        def slow(*given: Any, **named: Any) -> None:
            entered.set()
            assert go.wait(60.0)
            look(*given, **named)

        monkeypatch.setattr(viewer, "look", slow)
        by_hand(viewer, controls._layers["names"], True)
        assert entered.wait(60.0)
        by_hand(viewer, controls._layers["inertia"], True)
        by_hand(viewer, controls._opacity, 0.5)
        go.set()
        comes_true(lambda: {"names", "inertia"} <= viewer.looks.layers and viewer.looks.opacity == 0.5)
        time.sleep(2 * hands.HANDS_OFF)  # what was told meanwhile has been written
        assert controls._layers["names"].value and controls._layers["inertia"].value and controls._opacity.value == 0.5


class Shown:
    """A control that both set, in a loop of its own; as viser has them."""

    def __init__(self, act: Any) -> None:
        self.value, self.writes, self.faults = 0.0, 0, []
        self.loop = asyncio.new_event_loop()
        self.loop.set_exception_handler(lambda _, what: self.faults.append(what))
        self.thread = threading.Thread(target=self.loop.run_forever)
        self.thread.start()
        control: Any = self
        self.shared = Shared(SimpleNamespace(get_event_loop=lambda: self.loop), control, act)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "value" and threading.current_thread() is self.__dict__.get("thread"):
            self.writes += 1
        super().__setattr__(name, value)

    def on_update(self, callback: Any) -> None:
        self.callback = callback

    def by_hand(self, value: float) -> None:
        async def handle() -> None:  # as viser's _handle_gui_updates does, which the program's writes do not pass
            self.__dict__["value"] = value
            await self.callback(SimpleNamespace(client=1))

        asyncio.run_coroutine_threadsafe(handle(), self.loop).result(10.0)

    def heard(self) -> None:
        """All that was told before has been heard."""
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0.0), self.loop).result(10.0)

    def end(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        self.loop.close()


def comes_true(what: Callable[[], bool]) -> None:
    end = time.monotonic() + 60.0
    while not what():
        assert time.monotonic() < end, "it did not come true in time"
        time.sleep(0.01)


def test_what_a_hand_sets_is_not_overwritten_before_it_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    """viser sets a control in its loop and calls back later; the program tells another value in between, and after."""
    monkeypatch.setattr(hands, "HANDS_OFF", 600.0)
    go, done = threading.Event(), threading.Event()
    heard: list[float] = []

    def act(value: float) -> None:
        go.wait(10.0)
        heard.append(value)
        done.set()

    slider = Shown(act)
    try:
        slider.shared.tell(1.0)
        slider.by_hand(-20.0)
        slider.shared.tell(0.0)
        slider.heard()
        assert slider.value == -20.0
        go.set()
        assert done.wait(10.0)
        assert heard == [-20.0]
        slider.shared.let_go()
        slider.shared.tell(0.5)
        slider.heard()
        assert slider.value == 0.5 and heard == [-20.0]
    finally:
        go.set()
        slider.end()


def test_values_of_a_hand_are_acted_on_one_after_the_other_and_the_last_one_last() -> None:
    """Of those that are set while one is acted on the last alone; the same value again counts, for the program may have changed it."""
    go, acting, heard, at_once = threading.Semaphore(0), threading.Semaphore(0), [], []

    def act(value: float) -> None:
        at_once.append(value)
        acting.release()
        assert go.acquire(timeout=60.0)
        heard.append(value)
        assert at_once.pop() == value and not at_once

    slider = Shown(act)
    try:
        slider.by_hand(1.0)
        assert acting.acquire(timeout=60.0)
        for value in (2.0, 3.0, 4.0, 3.0):
            slider.by_hand(value)
        go.release()
        assert acting.acquire(timeout=60.0)
        slider.by_hand(3.0)
        for _ in range(2):
            go.release()
        comes_true(lambda: len(heard) == 3)
        slider.by_hand(5.0)
        go.release()
        comes_true(lambda: len(heard) == 4)
        assert heard == [1.0, 3.0, 3.0, 5.0]
    finally:
        for _ in range(10):
            go.release()
        slider.end()


def test_an_error_of_what_a_hand_asks_for_is_printed_and_the_next_value_is_acted_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    heard: list[float] = []

    def act(value: float) -> None:
        if value == 1.0:
            raise ValueError("this cannot be")
        heard.append(value)

    slider = Shown(act)
    try:
        slider.by_hand(1.0)
        slider.by_hand(2.0)
        comes_true(lambda: heard == [2.0])
        assert "ValueError: this cannot be" in capsys.readouterr().err
    finally:
        slider.end()


def test_what_is_told_while_a_hand_is_on_a_control_is_shown_once_it_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """A paused system tells a change only once: the last value that was told counts, and is written once."""
    monkeypatch.setattr(hands, "HANDS_OFF", 2.0)
    box = Shown(lambda _: None)

    async def at_once() -> None:
        box.__dict__["value"] = 1.0
        await box.callback(SimpleNamespace(client=1))
        for value in (3.0, 4.0, 5.0):
            box.shared.tell(value)

    try:
        asyncio.run_coroutine_threadsafe(at_once(), box.loop).result(10.0)
        comes_true(lambda: box.value == 5.0)
        assert box.writes == 1
        assert time.monotonic() - box.shared._touched > 2.0
    finally:
        box.end()


def test_what_was_told_before_a_newer_hand_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hands, "HANDS_OFF", 600.0)
    box = Shown(lambda _: None)
    try:
        box.by_hand(1.0)
        box.shared.tell(3.0)
        box.heard()
        late = box.shared._later
        assert late is not None
        box.by_hand(2.0)
        assert late.cancelled() and box.shared._later is None and box.value == 2.0
        box.shared.tell(4.0)  # what is told after it is
        box.heard()
        assert box.shared._later is not None and not box.shared._later.cancelled()
    finally:
        box.end()


def test_what_is_told_of_a_control_that_was_removed_is_left(port: int) -> None:
    """The folder of a system that runs goes while a value of it may still be on its way."""
    server, faults = page.start_server(port=port).server, []
    try:
        loop = server.get_event_loop()
        loop.set_exception_handler(lambda _, what: faults.append(what))
        folder = server.gui.add_folder("folder")
        with folder:
            box = server.gui.add_checkbox("box", True)
        shared = Shared(server, box, lambda _: None)
        shared.tell(False)
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0.0), loop).result(10.0)
        assert not box.value
        folder.remove()
        shared.tell(True)
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0.0), loop).result(10.0)
        assert not box.value and faults == []
    finally:
        page.stop_server(server)


def test_sliders_of_a_running_system_tell_units_and_put_one_number_of_a_joint(port: int) -> None:
    system = joints_of_all_kinds()
    system.add_force(nx.PositionActuator("reach", "j1", kp=10.0, kd=1.0, target=0.1))
    session = nx.Session(system, nx.RungeKutta4(1e-3))
    with Viewer(system, port=port) as viewer:
        viewer.live(session)
        viewer.pause()
        touch = viewer._desk.touch
        assert touch is not None
        labels = [wheel.slider.control.label for wheel in touch.controls._wheels]
        assert {"reach [m]", "j0 [rad]", "j2.z [m]", "j6: φz [rad]"} <= set(labels)
        by_label = {dial.label: dial for dial in Poser(system).dials}
        with viewer._desk.lock:
            for label, value in (("j6: φx", 0.3), ("j6: φz", -0.2), ("j2.z", 0.05)):
                touch.controls._put(session, by_label[label], value)
        stands = session.latest().joint_position("j6").values.ravel()
        assert by_label["j6: φx"].of(stands) == pytest.approx(0.3) and by_label["j6: φz"].of(stands) == pytest.approx(
            -0.2
        )
        viewer.units(True)
        wheels = {wheel.slider.control.label: wheel for wheel in touch.controls._wheels}
        assert len(wheels) == len(labels) and wheels["j2.z [mm]"].now() == pytest.approx(50.0)
        assert wheels["j6: φx [°]"].now() == pytest.approx(np.rad2deg(0.3)) and wheels[
            "reach [mm]"
        ].now() == pytest.approx(100.0)


def test_a_late_release_of_a_drag_does_not_end_one_of_the_next_system(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page outlives the system that runs on it, and tells drags apart by their numbers."""
    monkeypatch.setattr("nexdyn.view.touch.LOST", np.inf)
    system = nx.System("pendulum")
    system.add_body("rod", mass=1.0, inertia=(1, 1, 1), position=(0, 0, -1), shapes=[nx.Box((0.1, 0.1, 2.0))])
    system.add_joint(nx.Revolute("hinge", "ground", "rod", at=(0, 0, 0), axis=(0, 1, 0)))
    with Viewer(system, port=port) as viewer:
        numbers = []
        for _ in range(2):
            viewer.live(nx.Session(system, nx.RungeKutta4(1e-3)))
            touch, session = viewer._desk.touch, viewer.session
            assert touch is not None and session is not None
            viewer.pause()
            numbers.append(touch.grab(Hit("rod", np.zeros(3), np.zeros(3), 1.0), np.array([0.0, 1.0, 0.0])))
            for number in numbers[:-1]:
                touch.release(number)
                assert session.hand is not None
                assert touch.pull(number, np.zeros(3), np.array([0.0, 1.0, 0.0])) is None
            assert session.hand is not None
            viewer.keep()
        assert numbers[1] > numbers[0]
