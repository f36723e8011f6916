"""`nexdyn view --png, --gif, --mp4`: pictures from the command line, without a display and without a browser."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from nexdyn.cli import main


@pytest.fixture
def nexdyn(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NEXDYN_DEBUG", raising=False)
    monkeypatch.delenv("DISPLAY", raising=False)

    def call(line: str) -> tuple[int, str, str]:
        return (main(shlex.split(line)), *capsys.readouterr())

    return call


def test_stills_and_a_video_of_a_result(nexdyn: Any, tmp_path: Path) -> None:
    assert nexdyn("run hinge-chain --t-end 0.5 --quiet --out a.nc")[0] == 0
    code, out, err = nexdyn("view a.nc --png end.png --gif a.gif --size 160x90 --fps 10 --speed 0.5 --json")
    assert code == 0 and not err and json.loads(out)["files_written"] == ["end.png", "a.gif"]
    code, out, _ = nexdyn("view a.nc --png start.png --time 0 --size 160x90")
    assert code == 0 and out.startswith("hinge chain: start.png (")
    first, last = (np.asarray(Image.open(tmp_path / name)).astype(int) for name in ("start.png", "end.png"))
    assert first.shape == (90, 160, 3) and (np.abs(first - last).max(axis=2) > 40).sum() > 50  # the chain has moved
    with Image.open(tmp_path / "a.gif") as gif:
        assert gif.n_frames == 11 and gif.size == (160, 90)


def test_layers_of_the_page_are_in_pictures_where_they_are_asked_for(nexdyn: Any, tmp_path: Path) -> None:
    assert nexdyn("run hinge-chain --t-end 0.5 --quiet --out a.nc")[0] == 0
    for options, file in (("", "plain.png"), ('--show "joint axes" --show trails', "shown.png")):
        assert nexdyn(f"view a.nc --png {file} --size 320x180 {options}")[0] == 0
    plain, shown = (np.asarray(Image.open(tmp_path / name)).astype(int) for name in ("plain.png", "shown.png"))
    for color in ((30, 150, 70), (240, 140, 20)):  # of axes, and of trails
        both = [(np.abs(image - color).max(axis=-1) < 30).sum() for image in (plain, shown)]
        assert both[1] > both[0] + 20


def test_a_model_is_pictured_as_it_stands(nexdyn: Any, tmp_path: Path) -> None:
    code, _, _ = nexdyn("view four-bar --still --png a.png --size 160x90 --azimuth 45 --elevation 30")
    assert code == 0
    image = np.asarray(Image.open(tmp_path / "a.png")).astype(int)
    assert (image.max(axis=2) - image.min(axis=2) > 40).sum() > 50


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("view hinge-chain --png a.jpg", "--png a.jpg must end in .png, like a.png"),
        ("view hinge-chain --still --gif a.gif", "--still has no motion to film"),
        ("view hinge-chain --gif a.gif --time 1", "--time is the moment of a still"),
        ("view hinge-chain --png a.png --fps 10", "--fps is of a video"),
        ("view hinge-chain --png a.png --size big", "--size is 'big'; width and height in pixels"),
        ("view hinge-chain --size 100x100", "--size is of pictures; add --png out.png"),
        ("view hinge-chain --png a.png --azimut 3", "Did you mean --azimuth?"),
        ("view hinge-chain --png a.png --show trials", "no layer 'trials'; did you mean 'trails'?"),
        ("view hinge-chain --still --png a.png --follow link9", "no body 'link9'; did you mean 'link6'?"),
    ],
)
def test_pictures_that_cannot_be_are_refused_before_anything_runs(
    nexdyn: Any, tmp_path: Path, line: str, message: str
) -> None:
    code, out, err = nexdyn(line)
    assert code == 2 and message in err and not out and not list(tmp_path.iterdir())
