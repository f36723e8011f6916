"""The address on which the page is served: this machine only unless told otherwise, the next free port where one is taken."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from nexdyn.errors import InputError, NexDynError, warn
from nexdyn.view.extras import need
from nexdyn.view.gate import LOOPBACK_NAMES, Ask, Gate, guarded

LOOPBACK = "127.0.0.1"
PORT = 8642
TRIED = 100
"""Ports that are tried from the one that is asked for."""
MOST_AT_ONCE = 100_000
"""Messages that reach a browser at once at most; viser's 128 are those of sixty bodies, and of a larger group the rest came later."""
BEGINS = 1.0
"""Seconds within which the server's loop answers; else a group begins without it."""


class Served(NamedTuple):
    """A viser server, the address of its page, and the gate in front of it."""

    server: Any
    address: str
    gate: Gate

    def stop(self) -> None:
        """Close the page, also one that still waits for what it shows."""
        self.gate.shut()
        stop_server(self.server)


def start_server(
    host: str = LOOPBACK, port: int = PORT, title: str = "NexDyn", ask: Ask | None = None, language: str = "en"
) -> Served:
    """A viser server at `host` on `port`, or on the next free one, which a NexDynWarning says.

    `title` is what the browser's tab is called; `ask` answers the page's questions (asking.py).

    Only requests that bear the address's token pass, and none from pages of elsewhere (gate.py).

    Raises InputError where there is no such host or no free port.
    """
    viser = need("viser", "the viewer")
    if not isinstance(port, int) or isinstance(port, bool) or not 1 <= port <= 65535:
        raise InputError(f"port is {port!r}; a whole number from 1 to 65535 is needed")
    free = free_port(host, port)
    if free != port:
        warn(f"port {port} is in use; took {free}")
    gate = Gate(host, title, ask, language)
    with _hushed(), guarded(gate):
        server = viser.ViserServer(host=host, port=free, label="NexDyn", verbose=False)
    if not gate.installed:
        stop_server(server)
        raise NexDynError(
            f"viser {viser.__version__} starts its server in a way that cannot be guarded; install viser 1.1"
        )
    with suppress(AttributeError):
        server._websock_server.get_message_buffer().max_window_size = MOST_AT_ONCE
    set_theme(server, False)
    return Served(server, address_of(server, gate.token), gate)


_here = threading.local()


@contextmanager
def together(server: Any) -> Iterator[None]:
    """What is said within reaches each browser as one group of messages, so that one moment is one picture.

    viser's own group may begin while the loop of its server reads the one before, and takes from that what is said anew: a browser gets
    a part of it, and the rest with the next. So a group begins in that loop, between two readings.
    """
    inside: list[Any] = _here.__dict__.setdefault("servers", [])
    if server in inside:  # of a group already
        yield
        return
    group = server.atomic()
    lock, begun = threading.Lock(), threading.Event()

    def begin() -> None:
        with lock:
            if not begun.is_set():
                group.__enter__()
                begun.set()

    loop = server.get_event_loop()
    try:
        loop.call_soon_threadsafe(begin)
    except RuntimeError:  # the server has stopped
        begin()
    if not begun.wait(0.0 if _runs_here(loop) else BEGINS):
        begin()
    inside.append(server)
    try:
        yield
    finally:
        inside.remove(server)
        group.__exit__(None, None, None)


def _runs_here(loop: asyncio.AbstractEventLoop) -> bool:
    """Whether this is the thread of the loop."""
    with suppress(RuntimeError):
        return asyncio.get_running_loop() is loop
    return False


def set_theme(server: Any, dark: bool) -> None:
    """How controls and plots look."""
    server.gui.configure_theme(show_logo=False, show_share_button=False, control_width="medium", dark_mode=dark)


def stop_server(server: Any) -> None:
    """Close the page and free its port."""
    with _hushed():
        server.stop()


@contextmanager
def _hushed() -> Iterator[None]:
    """Without what viser prints through rich's global console, which NexDyn itself does not use."""
    console = need("rich", "the viewer").get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before


def free_port(host: str, port: int) -> int:
    """The first free port from `port` on. InputError where the host is not this machine's, or nothing is free."""
    try:
        family, kind, _, _, place = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0]
    except OSError:
        raise InputError(f"host {host!r} is not known; 127.0.0.1 serves this machine only, 0.0.0.0 everyone") from None
    reason = ""
    for candidate in range(port, min(port + TRIED, 65536)):
        with socket.socket(family, kind) as trial:
            if sys.platform != "win32":
                trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                trial.bind((place[0], candidate, *place[2:]))
                return candidate
            except OSError as error:
                reason = error.strerror or str(error)
                if error.errno in _NOT_HERE:
                    raise InputError(f"host {host!r} is no address of this machine; 127.0.0.1 is") from None
    raise InputError(f"no free port from {port} to {candidate} ({reason.lower()}); name another one")


_NOT_HERE = tuple(
    code for name in ("EADDRNOTAVAIL", "WSAEADDRNOTAVAIL") if (code := getattr(__import__("errno"), name, None))
)


def title_of(name: str) -> str:
    """What the browser's tab is called, of a system's name."""
    return f"{name} · NexDyn"


def address_of(server: Any, token: str) -> str:
    """Where a browser on this machine finds the page."""
    host = server.get_host()
    shown = (
        "127.0.0.1" if host in ("0.0.0.0", "") else "[::1]" if host == "::" else f"[{host}]" if ":" in host else host
    )
    return f"http://{shown}:{server.get_port()}/{token}/"


def is_remote() -> bool:
    """Whether this is a session over ssh."""
    return any(os.environ.get(name) for name in ("SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"))


def hint(server: Any, address: str) -> str:
    """How to see the page from another machine, where this one is reached by ssh; otherwise ""."""
    port = server.get_port()
    if not is_remote() or server.get_host() not in LOOPBACK_NAMES:
        return ""
    return f"from your own machine: ssh -L {port}:127.0.0.1:{port} {socket.gethostname()}, then {address}"


def open_browser(address: str) -> bool:
    """Open the page in a browser with a window; False where there is none."""
    windows = sys.platform in ("darwin", "win32") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    )
    if not windows or (is_remote() and not os.environ.get("BROWSER")):
        return False
    with suppress(webbrowser.Error, OSError):
        return bool(webbrowser.open(address))
    return False
