"""A page that is served before there is anything to see: browsers load it meanwhile, and are then told all at once."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from chromium import LIMIT, Watched, browser, chain, comes_true, eye, needs_chromium

import nexdyn as nx
from nexdyn.view import server as page
from nexdyn.view.server import LOOPBACK, Served, free_port
from nexdyn.view.viewer import Viewer

__all__ = ["browser", "chain"]
viser = pytest.importorskip("viser")


@pytest.fixture
def served() -> Served:
    found = page.start_server(port=free_port(LOOPBACK, 18950))
    found.gate.hold()
    return found


def connected(served: Served) -> Any:
    """A socket to the page, as a browser opens it."""
    from websockets.sync.client import connect
    from websockets.typing import Subprotocol

    place = urlsplit(served.address)
    return connect(
        f"ws://{place.netloc}{place.path}", origin=f"http://{place.netloc}", open_timeout=LIMIT, max_size=None,  # type: ignore[arg-type]
        subprotocols=[Subprotocol(f"viser-v{viser.__version__}")],
    )  # fmt: skip


def test_sockets_wait_until_there_is_something_to_tell(served: Served) -> None:
    opened = threading.Event()

    def open_one() -> None:
        with connected(served):
            opened.set()

    waiting = threading.Thread(target=open_one, daemon=True)
    waiting.start()
    try:
        with urllib.request.urlopen(served.address, timeout=LIMIT) as answer:  # the page itself does not wait
            assert b"NexDyn" in answer.read()
        assert not opened.wait(0.3)
        served.gate.open()
        assert opened.wait(LIMIT)
        waiting.join(LIMIT)
    finally:
        served.stop()


def test_a_page_that_waits_can_be_closed(served: Served) -> None:
    failed = threading.Event()

    def open_one() -> None:
        try:
            with connected(served) as link:
                link.recv(timeout=LIMIT)
        except Exception:
            failed.set()

    threading.Thread(target=open_one, daemon=True).start()
    with urllib.request.urlopen(served.address, timeout=LIMIT):
        served.stop()
    assert failed.wait(LIMIT)
    with pytest.raises((urllib.error.URLError, OSError)):
        urllib.request.urlopen(served.address, timeout=2).close()


def test_a_page_that_asks_anew_leaves_no_complaint(
    served: Served, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """A page that waits closes its socket every second and opens another."""
    place = urlsplit(served.address)
    head = (
        f"GET {place.path} HTTP/1.1\r\nHost: {place.netloc}\r\nOrigin: http://{place.netloc}\r\nUpgrade: websocket\r\n"
        f"Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
        f"Sec-WebSocket-Protocol: viser-v{viser.__version__}\r\n\r\n"
    )
    handlers = served.gate.waiting
    for _ in range(3):
        with socket.create_connection((place.hostname, place.port)) as link:
            link.sendall(head.encode())
            comes_true(lambda: handlers() == 1)
        comes_true(lambda: handlers() == 0)
    served.stop()
    assert "Traceback" not in capfd.readouterr().err
    assert [record.message for record in caplog.records if record.levelname == "ERROR"] == []


@needs_chromium
def test_a_page_that_was_there_first_shows_what_comes_and_from_where(
    browser: Any, served: Served, chain: nx.Result
) -> None:
    pytest.importorskip("playwright")
    context = browser.new_context(viewport={"width": 1400, "height": 640})
    try:
        context.set_default_timeout(LIMIT * 1e3)
        watched = Watched(context.new_page())
        watched.page.goto(served.address)
        watched.until("window.__viserTestpoints?.rendererInfo.render.frame > 0")
        assert not served.server.get_clients()
        with Viewer(chain, served=served) as viewer:
            viewer.pause()
            assert viewer.address == served.address
            watched.until("window.__viserMutable.nodeRefFromName['/motion/batch0'] !== undefined")
            comes_true(lambda: viewer.watched)
            watched.settled(viewer.server)
            position, target = eye(viewer)
            home = viewer._desk.stage.camera(1.0)
            assert abs(position - home.eye).max() < 0.05 * viewer._desk.stage.size
            assert abs(target - home.target).max() < 0.05 * viewer._desk.stage.size
    finally:
        context.close()


@pytest.mark.parametrize(
    "what",
    [
        """
from nexdyn.view.viewer import Viewer
from nexdyn.view.server import LOOPBACK, free_port
with Viewer(chain(), port=free_port(LOOPBACK, 18990)) as viewer:
    assert [panel.title for panel in viewer._desk.controls.plots.shown][0] == "energy"
    viewer.select("link1"), viewer.select("hinge1")
""",
        """
nx.record(chain(), "page.html")
""",
        """
hall = nx.System("hall")
hall.add_body("ball", mass=1.0, inertia=(1e-3, 1e-3, 1e-3), position=(0, 0, 0.1), shapes=[nx.Sphere(0.05)])
hall.add_contact(nx.Contact("floor", "ball", stiffness=1e5, restitution=0.5, impact_speed=1.0, friction=0.3))
nx.Simulation(hall, nx.RungeKutta4(1e-4))
""",
    ],
    ids=["the viewer's first picture", "a recording", "the start of a run with contact"],
)
def test_what_shows_no_labelled_arrays_does_not_wait_for_them(what: str, tmp_path: Path) -> None:
    """xarray takes most of a second to import."""
    program = f"""
import sys, nexdyn as nx
def chain():
    system = nx.load("hinge-chain")
    system.add_measure(nx.Distance("apart", "link1", "link3"))
    return nx.simulate(system, t_end=0.1, method=nx.RungeKutta4(1e-3))
{what}
print("xarray" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] == "False"
