"""What people look at: geometry, the viewer in the browser, recordings, plots, pictures.

    geometry.py    shapes and mesh files → surfaces (vertices, faces, colour) fixed to bodies;  surfaces.py  their formulas
    parts.py       motors, gears, springs and what rolls, drawn beside bodies
    motion.py      a result → where everything is at any time;  poses.py  the same for a system that stands still
    stage.py       a moment → the nodes of a scene;  marks.py, arrows.py, links.py  parts of it;  floor.py  where its floor lies
    renewing.py    what stays of a scene that is laid out anew
    highlight.py, ruler.py, ghost.py   what is laid over it;  placing.py  poses of what is fixed to bodies
    server.py      the address where it is served;  gate.py  who may see it;  client.py  the page that browsers load
    software.js    what browsers without a GPU draw otherwise
    page.js        what the page asks;  asking.py  the answers;  picking.py  what a line of sight meets
    viewer.py      `nx.view`: the page;  controls.py  the controls;  cameras.py  from where;  live.py  a run as it goes
    inquiry.py     what is selected;  cards.py  its numbers;  members.py  members of batches
    plotting.py    the plots on the page;  panels.py  one of them
    words.py       labels in English and Chinese;  units.py  units of lengths and angles
    playback.py    the time that runs
    recording.py   `nx.record`: the same as one HTML file;  numbers.py  what it knows;  record.js  what its page does
    sharing.py     files that the page makes: HTML, MP4, GIF, PNG
    charts.py      the numbers that a plot shows, with names and units;  plots.py  panels → figures, by matplotlib
    differences.py how far methods are apart, of `nx.compare`
    overlays.py    arrows on pictures;  pictured.py  frames, names and what is selected
    stills.py      PNG, GIF, MP4 without a display;  camera.py  from where;  raster.py  triangles → pixels, by kernels
    notebook.py    tables and small figures that notebooks show
    extras.py      packages that are in an extra, and the error that names it where one is missing

The package is called like the function `nx.view`, which it is: calling the package calls it.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _View(ModuleType):
    def __call__(self, *arguments: Any, **options: Any) -> Any:
        from nexdyn.view.viewer import view

        return view(*arguments, **options)

    @property
    def view(self) -> ModuleType:
        return self


sys.modules[__name__].__class__ = _View
