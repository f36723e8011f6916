"""What of the scene `nexdyn view` shows: layers, who is followed, transparency, a section; on the page, in recordings, in pictures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import nexdyn as nx
from nexdyn.cli import main
from nexdyn.cli.looks import LOOKS_PLAINLY, Looks
from nexdyn.errors import InputError
from nexdyn.view.server import LOOPBACK, free_port
from nexdyn.view.stage import SHOWN_AT_FIRST
from nexdyn.view.viewer import Viewer


@pytest.mark.parametrize("side", ["y", "-y"])
def test_the_page_shows_what_is_asked_for(side: str) -> None:
    looks = Looks(show=("trails", "names"), follow="link6", opacity=0.3, section=f"{side}=0.1")
    looks.check()
    with Viewer(nx.load("hinge-chain"), port=free_port(LOOPBACK, 18800)) as viewer:
        first = viewer.looks
        LOOKS_PLAINLY.put(viewer)
        assert viewer.looks == first
        looks.put(viewer)
        seen = viewer.looks
        assert seen.layers == SHOWN_AT_FIRST | {"trails", "names"} and seen.follow == "link6"
        assert (seen.opacity, seen.section) == (0.3, (side, 0.1))


@pytest.mark.parametrize(
    ("looks", "words"),
    [
        (Looks(show=("trials",)), "no layer 'trials'; did you mean 'trails'?"),
        (Looks(opacity=1.5), "opacity is 1.5; a number above 0, and 1 at most"),
        (Looks(section="y"), "its place is finite"),
        (Looks(section="y=here"), "--section y=here is not understood; write it like y=0.1"),
        (Looks(section="w=0.1"), "no side of a section 'w'"),
    ],
)
def test_what_cannot_be_seen_is_told(looks: Looks, words: str) -> None:
    with pytest.raises(InputError) as error:
        looks.check()
    assert words in str(error.value)


def test_pictures_are_cut_and_seen_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, *options in (("plain",), ("thin", "--opacity", "0.3"), ("cut", "--section=-z=-0.2")):
        line = ["view", "hinge-chain", "--still", "--png", f"{name}.png", "--size", "320x180", *options]
        assert main(line) == 0
    plain, thin, cut = (np.asarray(Image.open(f"{name}.png")).astype(int) for name in ("plain", "thin", "cut"))
    assert np.abs(plain - thin).max() > 30 and np.abs(plain - cut).max() > 30


def test_so_is_a_recording(tmp_path: Path) -> None:
    run, page = tmp_path / "run.nc", tmp_path / "page.html"
    nx.simulate(nx.load("hinge-chain"), t_end=0.05, method=nx.RungeKutta4(1e-3)).save(run)
    assert main(["view", str(run), "--html", str(page), "--opacity", "0.4", "--section", "y=0.1"]) == 0
    assert page.stat().st_size > 1e5
