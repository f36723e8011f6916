"""Files that a motion depends on: a study, a run that goes on and an opened result know what was in them, not their names alone."""

from __future__ import annotations

import inspect
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mesh_lab import box

import nexdyn as nx
from nexdyn.simulation.fingerprint import fingerprint_of

RK4 = nx.RungeKutta4(1e-3)


def put(path: Path, height: float) -> Path:
    """A file of a box of such a height."""
    vertices, triangles = box((0.1, 0.1, height))
    lines = [f"v {x} {y} {z}\n" for x, y, z in vertices]
    path.write_text("".join(lines + [f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in triangles]))
    return path


def block(path: Path, shapes: bool = False) -> nx.System:
    """A block that falls on the ground and touches it by a mesh, or is drawn by it alone."""
    system = nx.System("block")
    drawn: Any = {"shapes": [nx.Mesh(str(path))], "collision": [nx.Box((0.1, 0.1, 0.1))]}
    system.add_body(
        "block", mass=1.0, inertia=(0.01, 0.01, 0.01), position=(0, 0, 0.051),
        **(drawn if shapes else {"collision": [nx.Mesh(str(path))]}),
    )  # fmt: skip
    system.add_joint(nx.Free("free", "ground", "block"))
    system.add_contact(nx.Contact("touch", "block", "ground", foundation_a=1e8, damping=0.5, friction=0.3))
    return system


def test_the_mark_of_a_system_holds_what_is_in_its_files(tmp_path: Path) -> None:
    path = put(tmp_path / "part.obj", 0.1)
    for shapes in (False, True):
        first = fingerprint_of(block(path, shapes))
        assert fingerprint_of(block(put(path, 0.1), shapes)) == first
        assert fingerprint_of(block(put(path, 0.12), shapes)) != first
        assert fingerprint_of(block(put(path, 0.1), shapes)) == first
    path.unlink()
    assert fingerprint_of(block(path, shapes=True)) == fingerprint_of(block(path, shapes=True)) != first


def test_no_element_shape_or_function_but_a_mesh_is_read_by_its_path() -> None:
    """A new one must enter the fingerprint by its content, and `files_of`, where the motion depends on it."""
    found = {
        f"{name}.{parameter}"
        for name in nx.__all__
        if inspect.isclass(cls := getattr(nx, name)) and not issubclass(cls, Exception)
        for parameter, said in inspect.signature(cls).parameters.items()
        if any(word in parameter for word in ("path", "file", "folder")) or "Path" in str(said.annotation)
    }
    assert found == {"Mesh.path"}


def test_a_sweep_does_not_go_on_where_a_mesh_has_changed(tmp_path: Path) -> None:
    path = put(tmp_path / "part.obj", 0.1)
    given: dict[str, Any] = {
        "parameters": {"block.mass": [1.0, 2.0]}, "measure": {"z": "final position.block.z"}, "jobs": 1, "t_end": 0.005,
        "method": RK4, "folder": tmp_path / "study",
    }  # fmt: skip
    first = nx.sweep(block(path), **given)
    assert nx.sweep(block(path), **given).identical(first)
    put(path, 0.12)
    with pytest.raises(nx.InputError, match="holds another study"):
        nx.sweep(block(path), **given)


def test_a_run_goes_on_with_a_mesh_that_has_changed_with_a_warning(tmp_path: Path) -> None:
    path = put(tmp_path / "part.obj", 0.1)
    half = nx.simulate(block(path), 0.005, RK4)
    assert not nx.simulate(block(path), 0.006, RK4, initial=half).warnings
    put(path, 0.05)
    with pytest.warns(nx.NexDynWarning, match=r"mesh .*part\.obj' has changed since the run to go on from"):
        result = nx.simulate(block(path), 0.006, RK4, initial=half)
    assert [(one["kind"], one["where"]) for one in result.warnings] == [("file", str(path))]
    assert not nx.simulate(block(path), 0.007, RK4, initial=result).warnings  # which ran with it


def test_an_opened_result_tells_that_a_mesh_has_changed_since(tmp_path: Path) -> None:
    path = put(tmp_path / "part.obj", 0.1)
    half = nx.simulate(block(path), 0.005, RK4)
    half.save(tmp_path / "half.nc")
    opened = nx.open_result(tmp_path / "half.nc")
    assert not nx.simulate(opened.system, 0.006, RK4, initial=opened).warnings
    put(path, 0.05)
    with pytest.warns(nx.NexDynWarning, match=r"part\.obj' has changed since the run; contacts"):
        opened = nx.open_result(tmp_path / "half.nc")
    with pytest.warns(nx.NexDynWarning, match="has changed since the run to go on from"):
        nx.simulate(opened.system, 0.006, RK4, initial=opened)
    path.unlink()
    with pytest.raises(nx.FileError, match=r"part\.obj: there is no such file"):
        nx.open_result(tmp_path / "half.nc")


def test_members_go_on_with_a_mesh_that_has_changed_with_a_warning(tmp_path: Path) -> None:
    path = put(tmp_path / "part.obj", 0.1)
    batch = {"parameters": {"block.mass": [1.0, 2.0]}}
    half = nx.simulate(block(path), 0.005, RK4, batch=batch).member(1)
    put(path, 0.05)
    with pytest.warns(nx.NexDynWarning, match="has changed since the run to go on from"):
        result = nx.simulate(block(path), 0.006, RK4, batch=batch, initial=half)
    assert {one["member"] for one in result.warnings if one["kind"] == "file"} == {0, 1}


def test_another_mesh_and_one_that_is_drawn_alone_are_no_cause_for_a_word(tmp_path: Path) -> None:
    path = put(tmp_path / "part.obj", 0.1)
    half = nx.simulate(block(path), 0.005, RK4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        other = block(put(tmp_path / "other.obj", 0.1))
        assert not nx.simulate(other, 0.006, RK4, initial=half).warnings
    drawn = nx.simulate(block(path, shapes=True), 0.005, RK4)
    put(path, 0.05)
    end = nx.simulate(block(path, shapes=True), 0.006, RK4, initial=drawn)
    assert not end.warnings and np.isfinite(end.position("block").values).all()
