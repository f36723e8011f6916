"""Who may see the page: a gate in front of viser's server.

A page from elsewhere can make a browser open a socket to this machine, and one whose name its owner points here (DNS
rebinding) could read the answers as well. So each request, for the page and for its socket, must show three things:

    Host      the address on which it came in, a name of this machine, or the host that the server was given
    Origin    http:// or https:// and the same as Host; a socket must have one, because browsers always send it
    /token/   128 random bits of this server, the first part of the path; only the printed address holds them

Everything else is answered 403 with a line that says why. Sources: RFC 6455, section 10.2; RFC 6454.
"""

from __future__ import annotations

import asyncio
import http
import secrets
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import isawaitable
from typing import Any
from urllib.parse import urlsplit

from nexdyn.view import client

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")

Ask = Callable[[str], dict[str, Any]]
OFTEN = 0.01
"""Seconds between two looks whether what waits may pass."""
_patching = threading.Lock()


class Gate:
    """The rule for one server: `host` is what it was given, `token` the first part of the path, `title` the page's.

    `ask` answers the questions of the page (asking.py); it is called on a thread of its own. `hold()` lets sockets and questions wait
    until `open()`: a browser then loads the page while what it shows is still being made, and is told all of it at once.
    """

    def __init__(self, host: str, title: str = "NexDyn", ask: Ask | None = None, language: str = "en") -> None:
        self.title, self.ask, self.language = title, ask, language
        self.token = secrets.token_urlsafe(16)
        self.installed = False
        self._host = host.lower()
        self._open, self._shut = threading.Event(), False
        self._waiting = 0
        self.open()

    def hold(self) -> None:
        """Let sockets and questions wait."""
        self._open.clear()

    def open(self) -> None:
        """Let them pass."""
        self._open.set()

    def waiting(self) -> int:
        """How many sockets and questions wait."""
        return self._waiting

    def shut(self) -> None:
        """Turn away what waits."""
        self._shut = True
        self._open.set()

    def refusal(self, reached: str, path: str, host: list[str], origin: list[str], socket_asked: bool) -> str:
        """Why a request is refused; "" where it may pass.

        reached: the address of this machine on which it came in; host, origin: the values of these headers."""
        if len(host) != 1 or _name_of(host[0]) not in self._names(reached):
            return "this page answers to the address that was printed, by no other name (Host)"
        if len(origin) > 1 or (socket_asked and not origin):
            return "a socket needs one Origin"
        if origin and origin[0].lower() not in (f"http://{host[0].lower()}", f"https://{host[0].lower()}"):
            return "pages from elsewhere may not reach this one (Origin)"
        first = path.partition("?")[0].strip("/").split("/")[0]
        if not secrets.compare_digest(first.encode(), self.token.encode()):
            return "open the address that was printed: it holds a token, which is missing or wrong here"
        return ""

    def in_front_of(self, process_request: Callable[..., Any] | None) -> Callable[..., Any]:
        """`process_request` of a websockets server, for requests that pass; it sees the path without the token."""

        def checked(connection: Any, request: Any) -> Any:
            asked = request.headers
            reached = str(connection.local_address[0])
            to_socket = any("websocket" in kind.lower() for kind in asked.get_all("Upgrade"))
            if why := self.refusal(reached, request.path, asked.get_all("Host"), asked.get_all("Origin"), to_socket):
                return connection.respond(http.HTTPStatus.FORBIDDEN, why + "\n")
            request.path = "/" + request.path.lstrip("/").removeprefix(self.token).lstrip("/")
            if not to_socket and request.path.partition("?")[0] == "/":
                zipped = any("gzip" in x for x in asked.get_all("Accept-Encoding"))
                return client.response(self.title, zipped, self.language)
            asks = not to_socket and request.path.startswith(client.ASK)
            if (asks or to_socket) and not self._open.is_set():
                return self._later(passed, connection, request)
            return passed(connection, request)

        def passed(connection: Any, request: Any) -> Any:
            if self.ask is not None and request.path.startswith(client.ASK) and "Upgrade" not in request.headers:
                return client.answered(self.ask, request.path)
            return process_request(connection, request) if process_request else None

        return checked

    async def _later(self, passed: Callable[..., Any], connection: Any, request: Any) -> Any:
        self._waiting += 1
        try:
            while not self._open.is_set():
                await asyncio.sleep(OFTEN)
                if connection.transport.is_closing():  # a page that waits closes its socket and asks anew every second
                    raise asyncio.CancelledError  # nobody waits for an answer to this one
        finally:
            self._waiting -= 1
        if self._shut:
            return connection.respond(http.HTTPStatus.SERVICE_UNAVAILABLE, "this page has ended\n")
        answer: Any = passed(connection, request)
        return await answer if isawaitable(answer) else answer

    def _names(self, reached: str) -> set[str]:
        """The names under which a request that came in on the address `reached` may know this machine."""
        names = {reached.lower().removeprefix("::ffff:"), self._host, *_names_of_machine()}
        if reached in LOOPBACK_NAMES or reached.removeprefix("::ffff:").startswith("127."):
            names.update(LOOPBACK_NAMES)
        return names - {"", "0.0.0.0", "::"}


def _names_of_machine() -> set[str]:
    name = socket.gethostname().lower()
    return {name, name.partition(".")[0], name.partition(".")[0] + ".local"}


def _name_of(host: str) -> str:
    """The name in a Host header, without its port and brackets; "" for none that is valid."""
    try:
        split = urlsplit(f"//{host}")
        _ = split.port  # raises where it is no number
    except ValueError:
        return ""
    return "" if split.path or split.query or split.username is not None else (split.hostname or "")


@contextmanager
def guarded(gate: Gate) -> Iterator[None]:
    """A viser server that starts within the block has `gate` in front of it.

    viser has no hook for it: it takes `serve` from this module of websockets as it starts. Where a later viser does
    otherwise, `gate.installed` stays false, and the caller must not let the server live."""
    from websockets.asyncio import server as module

    with _patching:  # another thread may start a server of its own
        inner: Any = module.serve

        def serve(handler: Any, *arguments: Any, process_request: Any = None, **options: Any) -> Any:
            if not handler.__module__.startswith("viser."):  # another server of this program
                return inner(handler, *arguments, process_request=process_request, **options)
            gate.installed = True
            return inner(handler, *arguments, process_request=gate.in_front_of(process_request), **options)

        module.serve = serve  # type: ignore[assignment, misc]
        try:
            yield
        finally:
            module.serve = inner  # type: ignore[misc]
