"""Springs, dampers, ropes and rods on the page and in pictures: they end where they act, at every moment."""

from __future__ import annotations

import numpy as np
import pytest

import nexdyn as nx
from nexdyn.view.links import Placing, links
from nexdyn.view.motion import Motion
from nexdyn.view.placing import turned
from nexdyn.view.server import LOOPBACK, free_port
from nexdyn.view.shot import Shot
from nexdyn.view.studio import Studio
from nexdyn.view.viewer import Viewer


def hung() -> nx.System:
    """A block that hangs on a spring with a damper, a damper, a rope and a rod, all from other points."""
    system = nx.System("hung", gravity=(0, 0, -9.81))
    block = system.add_body(
        "block", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, -0.6), shapes=[nx.Box((1, 1, 0.1))]
    )
    ball = system.add_body("ball", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, -1.5))
    ends = {"anchor_a": (-0.1, 0, 0.05), "at_b": (-0.2, 0, 0)}
    system.add_force(nx.PointSpring("strut", block, system.ground, stiffness=100.0, damping=2.0, length=0.5, **ends))
    system.add_force(nx.PointSpring("pot", block, system.ground, anchor_a=(0.3, 0.2, 0), damping=2.0))
    system.add_force(
        nx.ForceTable("rope", block, system.ground, at_b=(0.5, 0, 0), deflections=[0, 0.1], forces=[0, 10.0])
    )
    system.add_joint(nx.Rod("stick", block, ball, anchor_a=(0.2, 0, 0), anchor_b=(0, 0, 0.1)))
    return system


def acting_points(result: nx.Result, k: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Where each force and joint acts at a sample, from the result's poses alone."""
    R, p = (x.values[k, 0] for x in (result.rotation(), result.position()))
    R2, p2 = (x.values[k, 1] for x in (result.rotation(), result.position()))
    return {
        "strut": (p + R @ (-0.1, 0, 0.05), np.array((-0.2, 0, 0))),
        "pot": (p + R @ (0.3, 0.2, 0), np.zeros(3)),
        "rope": (p, np.array((0.5, 0, 0))),
        "stick": (p + R @ (0.2, 0, 0), p2 + R2 @ (0, 0, 0.1)),
    }


@pytest.fixture(scope="module")
def swung() -> nx.Result:
    return nx.simulate(hung(), t_end=1.0, method=nx.HHT(dt=2e-3), output_every=10)


def test_what_acts_between_points_is_drawn_between_them_all_the_time(swung: nx.Result) -> None:
    motion = Motion.of(swung)
    drawn = links(swung.system)
    assert [link.name for link in drawn] == ["strut, spring", "strut, damper", "pot, damper", "rope, rope", "stick"]
    row = {name: i for i, name in enumerate([*motion.bodies, "ground"])}
    placing = Placing.of(drawn, row)
    for k in (0, 7, 31, 50):
        a, q, stretch = placing.at(motion.at(float(motion.times[k])))
        for link, start, turn, s in zip(drawn, a, q, stretch, strict=True):
            ends = acting_points(swung, k)[link.name.partition(",")[0]]
            tip = start + turned(turn[None], np.array([[0.0, 0.0, link.length * s]]))[0]
            np.testing.assert_allclose([start, tip], ends, atol=2e-6)
            z = link.surface.vertices[:, 2]
            assert z.min() <= 1e-6 * link.length and z.max() == pytest.approx(link.length, rel=0.02)


def test_pictures_and_page_hold_the_links_where_they_are(swung: nx.Result) -> None:
    motion = Motion.of(swung)
    R, p = Studio(motion, Shot(size=(64, 48)))._placed(1.0)
    with Viewer(motion, port=free_port(LOOPBACK, 18720)) as viewer:
        stage = viewer._desk.stage
        stage.show(1.0)
        n = len(stage.links)
        assert n == 5
        for k, handle in enumerate(stage.links):
            np.testing.assert_allclose(handle.batched_positions[0], p[k - n], atol=1e-5)
            along = turned(np.asarray(handle.batched_wxyzs), np.array([[0.0, 0.0, float(handle.batched_scales[0, 2])]]))
            np.testing.assert_allclose(along[0], R[k - n][:, 2], atol=1e-5)


def test_a_force_whose_points_coincide_draws_nothing() -> None:
    system = nx.System("pinned", gravity=(0, 0, 0))
    body = system.add_body("body", mass=1.0)
    system.add_force(nx.PointSpring("pin", body, system.ground, stiffness=1e3))
    assert links(system) == []
