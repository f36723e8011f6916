"""What notebooks show: tables with what matters, small figures, nothing that fails, and names as they are."""

from __future__ import annotations

import base64
import io
import re
import sys
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from PIL import Image
from results_lab import menagerie, pendulum

import nexdyn as nx
from nexdyn.view import notebook


def parsed(html: str) -> ET.Element:
    """HTML that is well-formed; whatever names hold."""
    return ET.fromstring(html)


def texts(html: str) -> list[str]:
    return [text.strip() for text in parsed(html).itertext() if text.strip()]


def pictures(html: str) -> list[np.ndarray]:
    found = re.findall(r'src="data:image/png;base64,([^"]+)"', html)
    return [np.asarray(Image.open(io.BytesIO(base64.b64decode(code)))) for code in found]


def test_a_system_shows_its_bodies_joints_and_a_picture() -> None:
    html = nx.load("hinge-chain")._repr_html_()
    shown = texts(html)
    for text in (
        "System 'hinge chain'",
        "6, 6 kg",
        "(0, 0, -9.81) m/s²",
        "link6",
        "hinge6",
        "link5 → link6",
        "revolute",
    ):
        assert text in shown
    (picture,) = pictures(html)
    colours = picture.max(axis=2).astype(int) - picture.min(axis=2)
    assert picture.shape == (190, 300, 3) and (colours > 40).sum() > 200


def test_of_many_bodies_the_first_are_shown_and_the_rest_counted() -> None:
    system = nx.System("many")
    for k in range(30):
        system.add_body(f"b{k}", mass=1.0)
    shown = texts(system._repr_html_())
    assert "b11" in shown and "b12" not in shown and "… 18 more" in shown and "30, 30 kg" in shown


def test_a_result_shows_how_it_was_run_with_its_curves_and_its_end() -> None:
    result = nx.simulate(pendulum(), t_end=1.0, method=nx.RungeKutta4(1e-2))
    html = result._repr_html_()
    shown = texts(html)
    for text in ("0 … 1 s, 101 samples", "finished", "energy, energy [J]", "pendulum (1 body, 1 joint)"):
        assert text in shown
    assert len(pictures(html)) == 1
    curves = parsed(html).findall(".//{http://www.w3.org/2000/svg}polyline")
    assert [line[0].text for line in curves] == ["kinetic", "gravitational", "total", "hinge"]
    # the curve of the hinge is that of its coordinate, within a tenth of a pixel
    points = np.array([[float(x) for x in pair.split(",")] for pair in curves[-1].attrib["points"].split()])
    q = result.joint_position("hinge").values
    height = notebook.HEIGHT - 36.0
    np.testing.assert_allclose(points[:, 1], 18.0 + height * (q.max() - q) / np.ptp(q), atol=0.06)
    assert f"{q.max():.3g}" in shown and f"{q.min():.3g}" in shown


def test_an_assembly_shows_its_redundant_rows_and_the_pose() -> None:
    html = nx.assemble(nx.load("four-bar"))._repr_html_()
    shown = texts(html)
    assert "Assembly of 'four bar'" in shown or "Assembly of 'four-bar'" in shown
    assert shown[shown.index("degrees of freedom") + 1] == "1" and "in all poses" in shown
    assert len(pictures(html)) == 1


def test_an_assembly_that_cannot_close_shows_what_stays_open() -> None:
    with pytest.raises(nx.AssemblyError) as caught:
        nx.assemble(nx.load("broken-four-bar"))
    shown = texts(caught.value.report._repr_html_())
    assert "what stays open" in shown and shown[shown.index("assembled") + 1] == "no"


def test_names_are_shown_as_they_are() -> None:
    system = nx.System("<b>&\"'")
    system.add_body("</td><script>", mass=1.0)
    system.add_joint(nx.Revolute("a & b", "ground", "</td><script>"))
    shown = texts(system._repr_html_())
    assert "</td><script>" in shown and "a & b" in shown


@pytest.mark.parametrize("missing", ["PIL", "nexdyn.view.stills"])
def test_without_what_draws_there_are_tables(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    html = nx.load("hinge-chain")._repr_html_()
    assert not pictures(html) and "link6" in texts(html)


def test_every_kind_of_element_is_counted_and_an_empty_system_shown() -> None:
    shown = texts(menagerie(pushed=True)._repr_html_())
    assert "4 forces, 2 markers, 4 measures" in shown
    assert "System 'empty'" in texts(nx.System("empty")._repr_html_())


def test_a_result_of_one_sample_and_one_that_is_not_finite_are_shown() -> None:
    result = nx.simulate(pendulum(), t_end=0.1, method=nx.RungeKutta4(1e-2))
    r = result.recording
    one = nx.Result(result.system, type(r)(r.t[:1], r.q[:1], r.v[:1], r.a[:1]))
    assert "polyline" not in one._repr_html_()
    broken = nx.Result(result.system, type(r)(r.t, r.q * np.nan, r.v, r.a))
    assert "Result" in texts(broken._repr_html_())
