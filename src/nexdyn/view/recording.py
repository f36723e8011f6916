"""A motion as one HTML file: scene, player and plots on one page that opens without a server and without a network.

    recorded time τ = (t − t_0) / speed,  which the player on the page runs through; the plots' cursor is at t

viser's own page plays the scene, and a node of the scene that is not seen tells t.
The plots beside it are plotly's, whose program lies compressed in the file.
"""

from __future__ import annotations

import base64
import contextlib
import gzip
import html
import json
import math
import warnings
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.checked_calls import checked_call
from nexdyn.errors import InputError, NexDynError, NexDynWarning
from nexdyn.results.atomic import PathLike, file_path, written
from nexdyn.view import server as page
from nexdyn.view.charts import Panel, panels
from nexdyn.view.client import with_ours
from nexdyn.view.extras import need
from nexdyn.view.motion import Motion, motion_of
from nexdyn.view.panels import COLORS, telling
from nexdyn.view.stage import CLOCK, LAYERS, SHOWN_AT_FIRST, Look, Stage

if TYPE_CHECKING:
    from nexdyn.results.result import Result

SUFFIXES = (".html", ".htm")
PLOTTED = ("energy", "joint_position", "joint_velocity", "reaction", "measures")
FPS = 30.0
SHORTEST, LONGEST = 2.0, 120.0
"""Seconds [of the recording] between which a speed of 1 is kept."""
MOST_FRAMES = 6000
MANY = 200
"""Bodies beyond which only what is shown is recorded."""


@checked_call
def record(
    result: Result,
    path: PathLike | None = None,
    *,
    speed: float | None = None,
    layers: frozenset[str] | set[str] = SHOWN_AT_FIRST,
    follow: str = "",
    opacity: float = 1.0,
    section: tuple[str, float] | None = None,
) -> Recording:
    """The motion of a result as one HTML page, written to `path` (.html) where that is given.

    speed: times real time; None: 1, or what makes it last 2 s at least and 2 min at most.
    layers: what is seen at first, of "shapes", "grid", "shadows", "joint axes", "body frames", "reaction forces",
        "reaction moments", "contact forces", "contact pressure", "trails", "inertia", "centres of mass", "joint frames", "names",
        "collision shapes". follow: a body that stays in the middle.
    opacity: of the bodies, above 0 and at most 1. section: ("y", 0.1) takes away what of the bodies has y > 0.1 m, ("-y", 0.1) y < 0.1 m.

    Raises InputError for bad input or where the extra `view` is not installed, FileError where it cannot be written.
    """
    target = None if path is None else file_path(path, SUFFIXES, "a recording")
    motion = motion_of(result)
    unknown = set(layers) - set(LAYERS)
    if unknown:
        raise InputError(f"no layer {', '.join(sorted(unknown))}; layers: {', '.join(LAYERS)}")
    if follow and follow not in motion.bodies:
        motion.system.body(follow)  # raises the error that names the nearest
    speed = _speed(motion, speed)
    recording = Recording(
        _page(motion, Look(frozenset(layers), follow=follow, opacity=opacity, section=section), speed)
    )
    if target is not None:
        recording.save(target)
    return recording


@dataclass(frozen=True)
class Recording:
    """A page as text. In a notebook it shows itself."""

    text: str

    def __repr__(self) -> str:
        return f"Recording({len(self.text) / 2**20:.1f} MiB of HTML)"

    def save(self, path: PathLike) -> None:
        """Write it (.html), whole or not at all."""
        target = file_path(path, SUFFIXES, "a recording")
        with written(target) as temporary:
            Path(temporary).write_text(self.text, encoding="utf-8")

    def _repr_html_(self) -> str:
        whole = html.escape(self.text, quote=True)
        return f'<iframe srcdoc="{whole}" width="100%" height="520" style="border:1px solid #ddd"></iframe>'


# --- inside ---------------------------------------------------------------------------------------------------------


def _speed(motion: Motion, given: float | None) -> float:
    span = motion.end - motion.start
    if given is not None:
        if not isinstance(given, int | float) or not 0.0 < given < math.inf:
            raise InputError(f"speed is {given!r}; a number greater than 0 is needed, 1 is real time")
        return float(given)
    if not span or SHORTEST <= span <= LONGEST:
        return 1.0
    nice = [m * 10.0**e for e in range(-9, 7) for m in (1.0, 2.0, 5.0)]
    if span < SHORTEST:
        return max((s for s in nice if span / s >= SHORTEST), default=nice[0])
    return min((s for s in nice if span / s <= LONGEST), default=nice[-1])


def _page(motion: Motion, look: Look, speed: float) -> str:
    plotly = need("plotly.offline", "a recording")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "port .* is in use", NexDynWarning)
        server, _ = page.start_server()
    try:
        scene = _played(server, motion, look, speed)
    finally:
        page.stop_server(server)
    decimals = max(0, 3 - math.floor(math.log10(motion.end - motion.start))) if motion.moves else 0
    data = {
        "start": motion.start, "end": motion.end, "speed": speed, "decimals": decimals,
        "step": (motion.end - motion.start) / max(1, _frames(motion, speed)), "plots": _plots(motion),
    }  # fmt: skip
    name = motion.system.name
    head, body, tail = with_ours(scene, name).partition('<div id="root"></div>')
    head = head.replace("</head>", f"<style>{_STYLE}</style></head>")
    said = f"shown at {speed:g} × real time" if speed != 1.0 else "shown in real time"
    aside = _ASIDE.format(name=html.escape(name), said=html.escape(said), method=html.escape(_method(motion)))
    program = base64.b64encode(_compressed(plotly.get_plotlyjs())).decode()
    script = _SCRIPT.replace("CLOCK", CLOCK).replace("PLOTLY", program)
    return f'{head}{body}{aside}<script type="application/json" id="nexdyn-data">{_json(data)}</script>{script}{tail}'


def _played(server: Any, motion: Motion, look: Look, speed: float) -> str:
    """viser's page with the scene and all its moments."""
    stage = Stage(server, motion, look)
    if len(motion.bodies) <= MANY:
        stage.look = replace(stage.look, layers=frozenset(LAYERS))  # all of it, seen or not
    length, count = (motion.end - motion.start) / speed, _frames(motion, speed)
    serializer = server.get_scene_serializer()
    for k in range(1, count + 1):
        serializer.insert_sleep(length / count)
        stage.show(motion.start + (motion.end - motion.start) * k / count)
    return str(serializer.as_html())


def _frames(motion: Motion, speed: float) -> int:
    """Moments after the first one."""
    return min(MOST_FRAMES, math.ceil((motion.end - motion.start) / speed * FPS)) if motion.moves else 0


@lru_cache(maxsize=1)
def _compressed(program: str) -> bytes:
    return gzip.compress(program.encode(), 6, mtime=0)


def _plots(motion: Motion) -> list[dict[str, Any]]:
    """What is plotted, as far as it can be told."""
    found: list[Panel] = []
    if motion.result is None or not motion.moves:
        return []
    for kind in PLOTTED:
        with contextlib.suppress(NexDynError):
            found += panels(motion.result, [kind])
    return [_plot(panel) for panel in found]


def _plot(panel: Panel) -> dict[str, Any]:
    rows = telling(np.column_stack([line.y for line in panel.lines]))
    series = [
        {"label": line.label, "color": color, "y": _short(line.y[rows])}
        for line, color in zip(panel.lines, COLORS, strict=False)
    ]
    return {"title": panel.title, "x": panel.x, "y": panel.y, "t": _short(panel.lines[0].x[rows]), "series": series}


def _short(values: np.ndarray) -> list[float | None]:
    """Numbers of seven digits; null for what is none."""
    return [float(f"{x:.7g}") if math.isfinite(x) else None for x in values.tolist()]


def _json(data: Any) -> str:
    return json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _method(motion: Motion) -> str:
    return motion.result.recording.method if motion.result is not None else ""


_STYLE = """
body { display: flex; }
#root { flex: 1 1 0; width: auto; min-width: 0; position: relative; transform: translateZ(0); }
#nexdyn { flex: 0 0 min(440px, 42%); height: 100%; overflow-y: auto; box-sizing: border-box; padding: 10px 12px;
  border-left: 1px solid #ddd; background: #fff; color: #222; font-size: 13px; }
#nexdyn h1 { font-size: 17px; margin: 0 0 2px; } #nexdyn p { margin: 0 0 6px; color: #666; }
/* the player's own slider and field run ahead of what is drawn and tell seconds of playing */
#root .mantine-NumberInput-root:has(+ .mantine-Slider-root), #root .mantine-NumberInput-root + .mantine-Slider-root {
  display: none; }
#nexdyn-time { flex: 1 1 0; min-width: 0; display: flex; align-items: center; gap: 0.6em; font: 13px sans-serif; }
#nexdyn-time input { flex: 1 1 0; min-width: 0; } #nexdyn-time output { font-variant-numeric: tabular-nums; }
@media (max-width: 700px) { body { flex-direction: column; } #root { height: auto; }
  #nexdyn { flex: 0 0 45%; border-left: 0; border-top: 1px solid #ddd; } }
"""

_ASIDE = """<aside id="nexdyn"><h1>{name}</h1><p>{said}, {method}</p></aside>"""

_SCRIPT = """<script type="module">
const data = JSON.parse(document.getElementById("nexdyn-data").textContent);
const aside = document.getElementById("nexdyn");
const bar = document.createElement("div");
bar.id = "nexdyn-time";
bar.innerHTML = `<input type="range" id="nexdyn-slider" aria-label="time [s]" min="${data.start}" max="${data.end}"
  step="${data.step || 1}"><span>t = <output id="nexdyn-t"></output> s</span>`;
const [handle, shown] = [bar.querySelector("input"), bar.querySelector("output")];
const place = () => {  // between the player's buttons, once it is there
  const own = document.querySelector("#root .mantine-NumberInput-root + .mantine-Slider-root");
  if (own) own.after(bar); else setTimeout(place, 50);
};
place();
const packed = Uint8Array.from(atob("PLOTLY"), c => c.charCodeAt(0));
const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
const program = document.createElement("script");
program.textContent = await new Response(unpacked).text();
document.head.appendChild(program);

// the time of the poses that are on the page
const time = () => window.__viserMutable?.nodePoseData["CLOCK"]?.position[0] ?? data.start;
// a click on a plot types the time into the player's field
const seek = t => {
  const field = document.querySelector("#root input");
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set
    .call(field, (Math.max(0, (t - data.start) / data.speed) + 1e-4).toFixed(4));
  field.dispatchEvent(new Event("input", { bubbles: true }));
};
handle.addEventListener("input", () => seek(parseFloat(handle.value)));
const line = t => ({ type: "line", xref: "x", yref: "paper", x0: t, x1: t, y0: 0, y1: 1,
  line: { color: "#444", width: 1.2 } });
const plots = data.plots.map(plot => {
  const place = document.createElement("div");
  place.className = "nexdyn-plot";
  aside.appendChild(place);
  const traces = plot.series.map(s => ({ x: plot.t, y: s.y, name: s.label, mode: "lines",
    line: { color: s.color, width: 1.5 } }));
  Plotly.newPlot(place, traces, {
    title: { text: plot.title, font: { size: 13 } }, height: 240, margin: { l: 60, r: 16, t: 28, b: 36 },
    xaxis: { title: { text: plot.x, standoff: 4 } }, yaxis: { title: { text: plot.y, standoff: 4 } },
    legend: { orientation: "h", y: -0.25 }, showlegend: plot.series.length > 1, shapes: [line(data.start)],
    hovermode: "x",
  }, { displaylogo: false, responsive: true, modeBarButtonsToRemove: ["lasso2d", "select2d"] });
  place.on("plotly_click", event => seek(event.points[0].x));
  return place;
});
let last = NaN, drawn = 0;
const follow = now => {
  const t = time();
  shown.value = t.toFixed(data.decimals);
  handle.value = t;
  if (t !== last && now - drawn > 60) {
    last = t; drawn = now;
    for (const place of plots) Plotly.relayout(place, { "shapes[0].x0": t, "shapes[0].x1": t });
  }
  requestAnimationFrame(follow);
};
requestAnimationFrame(follow);
</script>"""
