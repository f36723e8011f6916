"""A changed parameter reaches what the simulation section says of it."""

from __future__ import annotations

from nexdyn.io.scene import read_scene_text

TEXT = """
parameters: {start: 0.5, T: 2.0}
bodies: {bob: {mass: 1.0, inertia: [0.1, 0.1, 0.1], position: [0, 0, -1]}}
joints: {hinge: {type: revolute, parent: ground, child: bob, at: [0, 0, 0], axis: [0, 1, 0]}}
simulation: {t_end: "=2*T", q0: {hinge: "=start"}}
"""


def test_the_simulation_follows_the_parameters() -> None:
    scene = read_scene_text(TEXT)
    assert scene.simulation["t_end"] == 4.0
    changed = scene.with_parameters({"start": 0.25, "T": 1.0})
    assert changed.simulation["t_end"] == 2.0
    assert list(changed.simulation["q0"].values()) in ([0.25], [[0.25]], [(0.25,)])
    assert scene.simulation["t_end"] == 4.0
