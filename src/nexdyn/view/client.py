"""The page that browsers load: viser's client, with our title and a script that makes one moment one picture.

viser applies a group of messages within a frame: bodies that are nodes move at once, but what React draws (instances, arrows,
lines, sliders) moves a frame later. The script applies the messages at the start of the frame, before viser's own callback:
React draws between two callbacks, so the picture that follows holds the whole moment.
"""

from __future__ import annotations

import asyncio
import gzip
import html
import json
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from nexdyn.errors import NexDynError
from nexdyn.view.extras import need

NARROW, NARROWER = 1100, 700
"""Windows [pixels] below which the plots, and then the controls too, are minimised at first, so that the scene has room."""

ASK = "/ask/"
"""Where the page asks (asking.py)."""

_TITLE = "<title>Viser</title>"
_HTML = '<html lang="en">'
_SCRIPT = f"""<script>
{{
  // registered before viser's own callback, it stays before it
  const apply = () => {{
    requestAnimationFrame(apply);
    const viser = window.__viserMutable;
    if (viser?.drainMessageQueue && viser.messageQueue.length) viser.drainMessageQueue();
  }};
  requestAnimationFrame(apply);
  const lies = x => x.style.position === "fixed" && x.style.bottom === "0px";
  const sheet = () => [...document.querySelectorAll(".mantine-Paper-root")].find(lies);
  const narrow = edge => {{  // on a phone the panels lie in a sheet over the scene
    const handle = document.querySelector(`[data-dock-region-handle="${{edge}}"] [role="button"]`)
      ?? (edge === "right" ? sheet()?.querySelector('[style*="cursor: pointer"]') : null);
    if (handle) handle.click(); else if (performance.now() < 60000) setTimeout(narrow, 100, edge);
  }};
  if (innerWidth < {NARROW}) narrow("left");
  if (innerWidth < {NARROWER}) narrow("right");
}}
</script>"""


def with_ours(page: str, title: str, more: str = "") -> str:
    """viser's page with our title and script, and what `more` there is of the head. NexDynError where it is not as we know it."""
    before, found, after = page.partition(_TITLE)
    if not found or '<div id="root"></div>' not in after:
        raise NexDynError(
            "this version of viser has a page that NexDyn does not know; nexdyn[view] installs one it knows"
        )
    first = f"<script>{script('software.js')}</script>"
    scene = f'<script type="module">{script("scene.js")}</script>'
    return f"{before}<title>{html.escape(title)}</title>{first}{_SCRIPT}{scene}{more}{after}"


def response(title: str, zipped: bool, language: str = "en") -> Any:
    """The answer of a websockets server to a browser that asks for the page."""
    page = with_ours(_page(), title, f'<script type="module">{script("page.js")}</script>')
    body = page.replace(_HTML, f'<html lang="{language}">', 1).encode()
    return _reply("text/html; charset=utf-8", gzip.compress(body, 1) if zipped else body, zipped)


async def answered(ask: Callable[[str], dict[str, Any]], path: str) -> Any:
    """The answer of a websockets server to a question of the page: computed on another thread, for it may take a while."""
    return _reply("application/json", json.dumps(await asyncio.to_thread(ask, path)).encode())


def _reply(kind: str, body: bytes, zipped: bool = False) -> Any:
    from websockets.datastructures import Headers
    from websockets.http11 import Response

    headers = Headers({"Content-Type": kind, "Cache-Control": "no-store", "Content-Length": str(len(body))})
    if zipped:
        headers["Content-Encoding"] = "gzip"
    return Response(200, "OK", headers, body)


@lru_cache(maxsize=1)
def _page() -> str:
    viser = need("viser", "the viewer")
    return (Path(viser.__file__).parent / "client" / "build" / "index.html").read_text(encoding="utf-8")


@lru_cache(maxsize=8)
def script(name: str) -> str:
    """One of our scripts."""
    return (Path(__file__).parent / name).read_text(encoding="utf-8")
