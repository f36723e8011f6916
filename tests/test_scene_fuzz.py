"""Mutated scenes are read, or refused with a NexDynError: never a traceback, never a hang."""

from __future__ import annotations

import copy
import math
import os
import random
import re
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nexdyn.describe import to_dict
from nexdyn.errors import NexDynError, NexDynWarning
from nexdyn.io.loader import DEMOS
from nexdyn.io.scene import dump_scene, read_scene_text
from nexdyn.io.yaml_positions import read_yaml

COUNT = int(os.environ.get("NEXDYN_FUZZ", "400"))
"""Scenes of each kind of mutation; NEXDYN_FUZZ=100000 for a long run."""
CHUNK = 2000
"""Scenes a test at most."""

RICH = """
gravity: [0, 0, =-g]
parameters: {g: 9.81, L: 0.5}
bodies:
  a: {mass: 1, inertia: [[1, 0, 0], [0, 1, 0], [0, 0, 1]], shapes: [{type: box, size: [1, =L, 1], color: [1, 0, 0]}]}
  b: {mass: =L, inertia: [1, 1, 1, 0, 0, 0], com: [0, 0, 1], strict: false, orientation: [0, 1, 0, 0]}
  c: {mass: 1, shapes: {type: sphere, radius: 0.1, name: skin, position: [0, 0, 0]}}
joints:
  hinge: {type: revolute, parent: ground, child: a, at: [0, 0, 0], axis: [0, 1, 0], limits: [-1, .inf], q0: 1, v0: [2]}
  screw: {type: helical, parent: a, child: b, pitch: =L, anchor_a: [0, 0, 1], mimic: {joint: hinge, multiplier: 2}}
  ball: {type: spherical, parent: b, child: c, damping: [1, 2, 3], limits: [[-1, 1], [null, 2], [0, 3]]}
markers: {m: {body: a, position: [0, 0, 1]}, n: {body: c, at: [0, 0, 1], orientation: [0, 0, 1, 0]}}
measures: {d: {type: distance, a: m, b: n}, r: {type: direction, a: m, b: n, product: zx}}
forces:
  push: {type: applied, body: a, force: [0, "=3*sin(t)", {type: harmonic, amplitude: 1, frequency: 2}], at: [0, 0, 1]}
  motor: {type: joint_force, joint: hinge, effort: {type: table, times: [0, 1], values: [1, 2], kind: cubic}}
  spring: {type: bushing, a: m, b: ground, stiffness: [1, 2, 3, 4, 5, 6]}
  curve: {type: force_table, a: m, b: n, deflections: [-1, 0, 1], forces: [-1, 0, 2], interpolation: monotone}
simulation: {t_end: =L, method: {type: dopri5, rtol: 1e-6}, q0: {hinge: 0.1, ball: [1, 0, 0, 0]}}
"""
SEEDS = [*(path.read_text(encoding="utf-8") for path in sorted(DEMOS.glob("*.yaml"))), RICH]

TOKENS = [
    "[]", "{}", "null", "~", "true", "1e999", "-1", ".nan", ".inf", "=L", "=t", "=1/0", "'x'", '"1e-3"', "&a",
    "*a", "!!int", "[[1,2],[3]]", "ground", "a", "hinge", "-", "?", ":", "#", "=", "0", "5", "{a:b}", "=((((",
    "=x**9**9**9", "---", "...", "|", "name", "mimic:{joint:hinge}", "1_0", "0x1F", "[1,2,3]", "[1,0,0,0]",
    "=10**400", "é", "😀",
]  # fmt: skip
VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 1e308, -1e308, 5e-324, math.inf, -math.inf, math.nan, "", " ", "x", "=L", "=t", "=1/0",
    "=10**400", "=(-1)**0.5", "=", "=L*t", "ground", "a", "hinge", "m", [], [[]], [1], [1, 2], [1, 2, 3], [0, 0, 0],
    [math.inf] * 3,
    [1, 0, 0, 0], [1] * 6, [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[1, 2], [3, 4]], ["a", "b", "c"], [None] * 3,
    {}, {"type": "box"}, {"type": "box", "size": [1, 1, 1]}, {"type": "harmonic", "amplitude": 1, "frequency": 2},
    {"joint": "hinge"}, {"type": []}, {"x": {"y": 1}}, 10**30, 10**400, [[[1]]], "1e-3", "a\nb", "\x00", "y" * 5000,
    {"type": "polynomial", "coefficients": 3}, {"type": "step5", "t0": [1], "y0": 0, "t1": 2, "y1": 1},
]  # fmt: skip


def mutated_text(rng: random.Random) -> str:
    """A scene after some accidents with an editor."""
    text = rng.choice(SEEDS)
    for _ in range(rng.randint(1, 3)):
        lines = text.split("\n")
        i, j, k = rng.randrange(len(text)), rng.randrange(len(lines)), rng.randrange(len(lines))
        word = rng.choice([*re.finditer(r"[^\s,:\[\]{}]+", text)])
        match rng.randrange(8):
            case 0:
                text = text[:i] + rng.choice(TOKENS) + text[i:]
            case 1:
                text = text[:i] + text[i + rng.randint(1, 20) :]
            case 2:
                text = text[:i] + chr(rng.randrange(256)) + text[i + 1 :]
            case 3:
                lines[j], lines[k] = lines[k], lines[j]
                text = "\n".join(lines)
            case 4:
                text = "\n".join([*lines[:j], lines[k], *lines[j:]])
            case 5:
                lines[j] = " " * rng.randint(0, 6) + lines[j].lstrip()
                text = "\n".join(lines)
            case 6:
                text = text[: word.start()] + rng.choice(TOKENS) + text[word.end() :]
            case _:
                other = rng.choice([*re.finditer(r"[^\s,:\[\]{}]+", text)])
                text = text[: word.start()] + other[0] + text[word.end() :]
    return text


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of everything inside."""
    for key, value in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        yield (*path, key)
        yield from places(value, (*path, key))


def at(data: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        data = data[key]
    return data


def mutated_data(rng: random.Random) -> Any:
    """A scene with values that its author did not mean."""
    data = copy.deepcopy(read_yaml(rng.choice(SEEDS)).data)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        paths = list(places(data))
        path, other = rng.choice(paths), rng.choice(paths)
        holder = at(data, path[:-1])
        match rng.randrange(5):
            case 0:
                del holder[path[-1]]
            case 1:
                holder[path[-1]] = copy.deepcopy(at(data, other))
            case _:
                holder[path[-1]] = copy.deepcopy(rng.choice(VALUES))
        if not list(places(data)):
            break
    return data


def as_yaml(value: Any) -> str:
    """A value in YAML, whatever it is."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{as_yaml(key)}: {as_yaml(item)}' for key, item in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(as_yaml, value))}]"
    if isinstance(value, str):
        return '"' + "".join(c if c.isalnum() or c in " =*/+-()_" else f"\\U{ord(c):08x}" for c in value) + '"'
    if isinstance(value, float) and not math.isfinite(value):
        return {math.inf: ".inf", -math.inf: "-.inf"}.get(value, ".nan")
    return "null" if value is None else str(value)  # True and False are bools in YAML too


def read_or_refuse(text: str, kept: Path) -> bool:
    """Whether a scene is valid; one that is reads back. `kept` holds the text, for when something else happens."""
    kept.write_text(text, encoding="utf-8", errors="surrogatepass")
    began = time.process_time()  # others may use the machine
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NexDynWarning)
            scene = read_scene_text(text)
            again = read_scene_text(dump_scene(*scene[:3]))
    except NexDynError as error:
        assert str(error)
        return False
    finally:
        assert time.process_time() - began < 10.0
    assert to_dict(again.system) == to_dict(scene.system)
    return True


@pytest.mark.parametrize("first", range(0, COUNT, CHUNK))
@pytest.mark.parametrize("mutate", [mutated_text, lambda rng: as_yaml(mutated_data(rng))], ids=["text", "data"])
def test_mutated_scenes_are_read_or_refused(mutate: Any, first: int, tmp_path: Path) -> None:
    rng = random.Random(20240607 + first)
    count = min(CHUNK, COUNT - first)
    valid = [read_or_refuse(mutate(rng), tmp_path / "scene.yaml") for _ in range(count)]
    assert 0.02 < sum(valid) / len(valid) < 0.98  # neither too wild nor too tame
