"""The page that browsers load: viser's client, with our title and a script that makes one moment one picture.

viser applies a group of messages within a frame: bodies that are nodes move at once, but what React draws (instances, arrows,
lines, sliders) moves a frame later. The script applies the messages at the start of the frame, before viser's own callback:
React draws between two callbacks, so the picture that follows holds the whole moment.
"""

from __future__ import annotations

import gzip
import html
from functools import lru_cache
from pathlib import Path
from typing import Any

from nexdyn.errors import NexDynError
from nexdyn.view.extras import need

NARROW, NARROWER = 1100, 700
"""Windows [pixels] below which the plots, and then the controls too, are minimised at first, so that the scene has room."""

_TITLE = "<title>Viser</title>"
_SCRIPT = f"""<script>
{{
  // registered before viser's own callback, it stays before it
  const apply = () => {{
    requestAnimationFrame(apply);
    const viser = window.__viserMutable;
    if (viser?.drainMessageQueue && viser.messageQueue.length) viser.drainMessageQueue();
  }};
  requestAnimationFrame(apply);
  const narrow = edge => {{
    const handle = document.querySelector(`[data-dock-region-handle="${{edge}}"] [role="button"]`);
    if (handle) handle.click(); else if (performance.now() < 60000) setTimeout(narrow, 100, edge);
  }};
  if (innerWidth < {NARROW}) narrow("left");
  if (innerWidth < {NARROWER}) narrow("right");
}}
</script>"""


def with_ours(page: str, title: str) -> str:
    """viser's page with our title and script. NexDynError where it is not as we know it."""
    before, found, after = page.partition(_TITLE)
    if not found or '<div id="root"></div>' not in after:
        raise NexDynError(
            "this version of viser has a page that NexDyn does not know; nexdyn[view] installs one it knows"
        )
    return f"{before}<title>{html.escape(title)}</title>{_SCRIPT}{after}"


def response(title: str, zipped: bool) -> Any:
    """The answer of a websockets server to a browser that asks for the page."""
    from websockets.datastructures import Headers
    from websockets.http11 import Response

    body = with_ours(_page(), title).encode()
    headers = Headers({"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store"})
    if zipped:
        body, headers["Content-Encoding"] = gzip.compress(body, 1), "gzip"
    headers["Content-Length"] = str(len(body))
    return Response(200, "OK", headers, body)


@lru_cache(maxsize=1)
def _page() -> str:
    viser = need("viser", "the viewer")
    return (Path(viser.__file__).parent / "client" / "build" / "index.html").read_text(encoding="utf-8")
