"""The page in the browser, as commands offer it: its address, what is said of it, how long it stays."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from nexdyn.cli import terminal
from nexdyn.cli.options import Saying, flag, option
from nexdyn.cli.units import whole
from nexdyn.errors import InputError

if TYPE_CHECKING:
    from nexdyn.results.result import Result
    from nexdyn.view.server import Served
    from nexdyn.view.viewer import Viewer

PAGE = Group("The page in the browser", sort_key=4)


@Parameter(name="*")
@dataclass(frozen=True)
class Page:
    """Where the page is served."""

    port: Annotated[int | None, option("Port; default 8642, or the next free one.", PAGE, converter=whole)] = None
    host: Annotated[
        str, option("Address to serve at; default 127.0.0.1: this machine only. 0.0.0.0: whoever reaches it.", PAGE)
    ] = "127.0.0.1"
    language: Annotated[Literal["en", "zh"], option("Language of the page: en or zh; default en.", PAGE)] = "en"
    no_browser: Annotated[bool, flag("Open no browser, print the address only.", group=PAGE)] = False

    def check(self, opens: bool, instead: str, language: bool = False) -> None:
        """InputError for an option of a page where none `opens`, with what to do `instead`; language: what is written has one, too."""
        host, own = self.host != "127.0.0.1", self.language != "en" and not language
        given = {"port": self.port is not None, "host": host, "language": own}
        for name in given:
            if given[name] and not opens:
                raise InputError(f"--{name} is of a page in the browser; {instead}")


PAGE_PLAINLY = Page()


def serve(name: str, page: Page, saying: Saying | None) -> Served:
    """The page of a system of that name, in a browser where there is one, before there is anything to see: the browser loads it meanwhile.

    Its address is said on stdout, or without `saying` on stderr."""
    from nexdyn.view import server

    port = server.PORT if page.port is None else page.port
    served = server.start_server(page.host, port, server.title_of(name), None, page.language)
    served.gate.hold()
    said = f"{name}: {served.address}  (Esc or End on the page, or Ctrl-C here, ends)"
    if saying is None:
        terminal.note(said)
    elif saying.json:
        terminal.say_json({"name": name, "address": served.address, "port": served.server.get_port()})
    else:
        terminal.say(said)
    sys.stdout.flush()
    if hint := server.hint(served.server, served.address):
        terminal.note(hint)
    if page.host not in (server.LOOPBACK, "localhost", "::1"):
        terminal.note(f"served at {page.host}: whoever knows the whole address sees the page and can press its buttons")
    if not page.no_browser:
        server.open_browser(served.address)
    return served


def open_page(
    what: Any, page: Page, saying: Saying | None, ghost: Result | None = None, seen: Mapping[str, Any] | None = None,
    served: Served | None = None,
) -> Viewer:  # fmt: skip
    """A viewer of `what`, under `ghost`, on a page that is served already, or on one of its own, as `serve` has it.

    seen: where from at first, eye and target."""
    from nexdyn.view.viewer import Viewer

    served = served or serve(what.system.name if hasattr(what, "system") else what.name, page, saying)
    try:
        viewer = Viewer(what, ghost=ghost, language=page.language, served=served)
    except BaseException:
        served.stop()
        raise
    if seen:
        viewer.look_from(seen["eye"], seen["target"])
    return viewer
