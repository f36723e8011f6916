"""Result files: what is written is read back, by NexDyn and by others; whole or not at all; what is wrong is said."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import subprocess
import sys
import textwrap
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5netcdf
import h5py
import numpy as np
import pytest
import xarray as xr
from results_lab import DT, menagerie, menagerie_result, pendulum

import nexdyn as nx
from nexdyn.results import file as file_page
from nexdyn.results.atomic import SteadyFile
from nexdyn.results.observed import Observed

ALL = ("joint_position", "joint_velocity", "joint_acceleration", "position", "orientation", "velocity", "reaction")

NOISY = int(os.environ.get("NEXDYN_FUZZ", "60"))
"""Files that are damaged; NEXDYN_FUZZ=100000 for a long run."""


@pytest.fixture(scope="module")
def result() -> nx.Result:
    return menagerie_result(0.3, True)


@pytest.fixture(scope="module")
def written(result: nx.Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("results") / "run.nc"
    result.save(path)
    return path


@pytest.fixture
def copy(written: Path, tmp_path: Path) -> Path:
    path = tmp_path / "copy.nc"
    path.write_bytes(written.read_bytes())
    return path


def only_file(path: Path) -> bool:
    """Whether nothing else is left in its folder."""
    return os.listdir(path.parent) == [path.name]


# --- round trips ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("full", [True, False])
def test_a_file_reads_back_as_it_was(result: nx.Result, tmp_path: Path, full: bool) -> None:
    result.save(tmp_path / "run.nc", full=full)
    read = nx.open_result(tmp_path / "run.nc")
    for part in ("t", "q", "v", "a"):
        np.testing.assert_array_equal(getattr(read.recording, part), getattr(result.recording, part))
    for name in ALL:
        xr.testing.assert_identical(getattr(read, name)(), getattr(result, name)())
    assert read.summary() == result.summary()
    assert repr(read) == repr(result)
    assert read.recording.settings == result.recording.settings
    read.save(tmp_path / "again.nc", full=full)
    again = xr.open_dataset(tmp_path / "again.nc", engine="h5netcdf")
    with again, xr.open_dataset(tmp_path / "run.nc", engine="h5netcdf") as first:
        xr.testing.assert_identical(again.load(), first.load())


def test_load_is_open_result(written: Path) -> None:
    assert repr(nx.Result.load(str(written))) == repr(nx.open_result(written))


def test_states_alone_take_little_room(result: nx.Result, written: Path, tmp_path: Path) -> None:
    result.save(tmp_path / "states.nc", full=False)
    states, full = (os.path.getsize(path) for path in (tmp_path / "states.nc", written))
    assert states < full / 5


def test_xarray_opens_a_file_with_names_units_and_meaning(result: nx.Result, written: Path) -> None:
    with xr.open_dataset(written, engine="h5netcdf") as found:
        assert found.attrs["title"] == "menagerie"
        assert (found.attrs["status"], found.attrs["steps"]) == ("finished", 300)
        assert found.attrs["method"] == "RungeKutta4(dt=0.001)"
        np.testing.assert_array_equal(found.position.sel(body="limb"), result.position("limb"))
        assert found.velocity.attrs == {"units": "m/s", "long_name": "velocity of the body's origin, world axes"}
        reaction = found.reaction.sel(joint="knee", component="fy")
        np.testing.assert_array_equal(reaction, result.reaction("knee").sel(component="fy"))
        assert reaction.reaction_units.item() == "N"
        np.testing.assert_array_equal(found.total_energy, result.energy().total)
        np.testing.assert_array_equal(found.peak_moment_time, result.peaks().moment_time)
        np.testing.assert_array_equal(found.measure.sel(output="where.z"), result.measure("where").sel(axis="z"))
        assert found.time.attrs["units"] == "s"
        assert found.time.dtype == float
        assert json.loads(found.system_description.item())["name"] == "menagerie"


def test_a_dataset_holds_what_the_file_holds(result: nx.Result, written: Path) -> None:
    with xr.open_dataset(written, engine="h5netcdf") as found:
        ours = result.to_dataset()
        assert set(found.data_vars) - set(ours.data_vars) == {"system_description"}
        for name in ours.variables:
            np.testing.assert_array_equal(found[name], ours[name])
            assert found[name].dims == ours[name].dims
            assert found[name].attrs.get("units") == ours[name].attrs.get("units")


def test_a_file_that_other_tools_have_rewritten_still_opens(result: nx.Result, written: Path, tmp_path: Path) -> None:
    with xr.open_dataset(written, engine="h5netcdf") as found:
        packed = {name: {"zlib": True} for name in ALL}
        found.load().to_netcdf(tmp_path / "packed.nc", engine="h5netcdf", encoding=packed)
    read = nx.open_result(tmp_path / "packed.nc")
    np.testing.assert_array_equal(read.reaction(), result.reaction())


def test_every_axis_is_a_dimension_scale_as_netcdf_readers_need(written: Path) -> None:
    with h5py.File(written) as found:
        in_groups = [x for x in found.values() if isinstance(x, h5py.Group)]
        for name, variable in [*found.items(), *(pair for group in in_groups for pair in group.items())]:
            if (
                isinstance(variable, h5py.Dataset)
                and variable.attrs.get("CLASS") != b"DIMENSION_SCALE"
                and variable.ndim
            ):
                assert all(len(dim) == 1 for dim in variable.dims), name
        assert [dim[0].name for dim in found["reaction"].dims] == ["/time", "/joint", "/component"]


def test_names_may_hold_any_letters(tmp_path: Path) -> None:
    system = nx.System('Pendel "Ω" / 1, 2', gravity=(0, 0, -10))
    system.add_body("bob/1, α", mass=1.0, position=(0, 0, -1))
    system.add_joint(nx.Revolute('Gelenk "a"; β/', "ground", "bob/1, α", at=(0, 0, 0), axis=(0, 1, 0), q0=1.0))
    system.add_measure(nx.Distance("Abstand /m", "ground", "bob/1, α"))
    result = nx.simulate(system, 0.01, nx.RungeKutta4(DT))
    result.save(tmp_path / "Lösung 1.nc")
    read = nx.open_result(tmp_path / "Lösung 1.nc")
    np.testing.assert_array_equal(read.position("bob/1, α"), result.position("bob/1, α"))
    assert read.joint_position().coordinate.item() == 'Gelenk "a"; β/'
    result.to_csv(tmp_path / "Lösung.csv", "measures")
    with open(tmp_path / "Lösung.csv", encoding="utf-8", newline="") as stream:
        assert next(csv.reader(stream)) == ["time [s]", "measure.Abstand /m [m]"]


def test_an_interrupted_and_a_failed_run_say_so_in_their_files(tmp_path: Path) -> None:
    result = nx.simulate(pendulum(), 0.01, nx.RungeKutta4(DT))
    for status, message in (("interrupted", "interrupted at t = 0.01 s of 3 s"), ("failed", "motion at t = 1 s → ∞")):
        result.recording.status, result.recording.message = status, message
        result.save(tmp_path / "run.nc")
        read = nx.open_result(tmp_path / "run.nc")
        assert (read.status, read.message) == (status, message)
        assert f"{status} at t = 0.01 s ({message})" in read.summary_text()


def test_a_run_restarts_from_a_file_as_if_it_had_never_stopped(tmp_path: Path) -> None:
    system, method = menagerie(0.3, True), nx.RungeKutta4(DT)
    whole = nx.simulate(system, 0.3, method)
    nx.simulate(system, 0.1, method).save(tmp_path / "half.nc", full=False)
    half = nx.open_result(tmp_path / "half.nc")
    rest = nx.simulate(half.system, 0.3, method, initial=half)
    assert rest.recording.t[0] == pytest.approx(0.1)
    for part in ("t", "q", "v", "a"):
        late = getattr(whole.recording, part)[100:]
        scale = np.abs(late).max()
        np.testing.assert_allclose(getattr(rest.recording, part), late, rtol=0, atol=1e-11 * scale)


@pytest.mark.parametrize("body", [False, True], ids=["nothing at all", "nothing that moves"])
def test_little_systems_are_written_too(tmp_path: Path, body: bool) -> None:
    system = nx.System("little")
    if body:
        system.add_body("rock", mass=1.0, inertia=(1, 1, 1))
        system.add_joint(nx.Fixed("glue", "ground", "rock"))
    result = nx.simulate(system, 0.1, nx.RungeKutta4(0.1))
    result.save(tmp_path / "run.nc")
    read = nx.open_result(tmp_path / "run.nc")
    assert read.recording.q.shape == (2, 0)
    np.testing.assert_array_equal(read.reaction(), result.reaction())
    with xr.open_dataset(tmp_path / "run.nc", engine="h5netcdf") as found:
        assert found.sizes["time"] == 2


# --- forces that no file holds --------------------------------------------------------------------------------------


def pushed_by_python() -> nx.System:
    def push(t: float, A: Any, B: Any, out: Any) -> None:
        out[3:] = 1.0 + t, 0.0, 2.0

    system = menagerie()
    system.add_force(nx.UserForce("python push", "c", function=push))
    return system


@pytest.fixture(scope="module")
def by_python() -> nx.Result:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nx.NexDynWarning)  # that it is slow, said once a process
        return nx.simulate(pushed_by_python(), 0.02, nx.RungeKutta4(DT))


def test_a_file_tells_reactions_to_forces_that_it_cannot_hold(by_python: nx.Result, tmp_path: Path) -> None:
    with pytest.warns(nx.NexDynWarning, match="leaves out .*'python push'"):
        by_python.save(tmp_path / "run.nc")
    with pytest.warns(nx.NexDynWarning, match=r"run\.nc was run with 'python push': Python"):
        read = nx.open_result(tmp_path / "run.nc")
    assert read.lost_forces == ("python push",)
    assert "python push" not in read.system.forces
    for name in (*ALL, "transmitted"):
        xr.testing.assert_identical(getattr(read, name)(), getattr(by_python, name)())
    np.testing.assert_array_equal(read.reaction("knee"), by_python.reaction("knee"))
    assert read.peaks().identical(by_python.peaks())
    assert "force 'python push'" in read.not_conservative
    read.save(tmp_path / "again.nc")
    with pytest.warns(nx.NexDynWarning):
        again = nx.open_result(tmp_path / "again.nc")
    assert again.to_dataset().identical(read.to_dataset())


def test_a_measure_of_your_own_is_in_the_file_for_others_to_read(tmp_path: Path) -> None:
    class Height(nx.PointPosition):
        axes, unit = (), "m"

        def _evaluate(self, *motion: Any) -> Any:
            return super()._evaluate(*motion)[..., 2]

    system = pendulum()
    system.add_measure(Height("height", "bob"))
    result = nx.simulate(system, 0.01, nx.RungeKutta4(DT))
    with pytest.warns(nx.NexDynWarning, match="leaves out .*'height'"):
        result.save(tmp_path / "run.nc")
    with xr.open_dataset(tmp_path / "run.nc", engine="h5netcdf") as found:
        np.testing.assert_array_equal(found.measure.sel(output="height"), result.measure("height"))
    read = nx.open_result(tmp_path / "run.nc")
    np.testing.assert_array_equal(read.reaction("hinge"), result.reaction("hinge"))
    assert read.measures() == {}


def test_without_them_reactions_are_refused_and_the_rest_is_told(by_python: nx.Result, tmp_path: Path) -> None:
    with pytest.warns(nx.NexDynWarning):
        by_python.save(tmp_path / "run.nc", full=False)
    with pytest.warns(nx.NexDynWarning):
        read = nx.open_result(tmp_path / "run.nc")
    np.testing.assert_array_equal(read.acceleration("c"), by_python.acceleration("c"))
    for ask in (read.reaction, read.transmitted, read.peaks, lambda: read.to_csv(tmp_path / "r.csv", "reaction")):
        with pytest.raises(nx.InputError, match="holds neither the force 'python push'"):
            ask()
    assert read.summary()["peak_reactions"] == []
    read.save(tmp_path / "again.nc")
    assert "reaction" not in read.to_dataset()


# --- whole or not at all --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["run.nc", "run.csv"])
def test_a_write_that_fails_half_way_leaves_the_old_file(
    result: nx.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    save, path, tables = (result.save if name == "run.nc" else result.to_csv), tmp_path / name, Observed.tables
    save(path)
    before = path.read_bytes()

    def failing(self: Observed, names: Any, index: Any = slice(None)) -> Any:
        for rows, found in tables(self, names, index):
            yield slice(0, 10), {name: values[:10] for name, values in found.items()}
            raise OSError(28, "No space left on device", rows)

    monkeypatch.setattr(Observed, "tables", failing)
    with pytest.raises(nx.FileError, match=rf"{name}: cannot be written: No space left on device"):
        save(path)
    assert path.read_bytes() == before
    assert only_file(path)


def test_an_interrupt_while_writing_leaves_the_old_file(
    result: nx.Result, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = copy.read_bytes()

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(file_page, "_write_quantities", interrupted)
    with pytest.raises(KeyboardInterrupt):
        result.save(copy)
    assert copy.read_bytes() == before
    assert only_file(copy)


def test_a_file_whose_disk_is_full_reads_back_what_was_written_to_it(tmp_path: Path) -> None:
    """HDF5 reads what it has written; where that is not there it takes the process with it."""
    write, truncate = io.FileIO.write, io.FileIO.truncate

    class Disk(io.FileIO):
        room = 10

        def write(self, data: Any) -> int:
            if (room := self.room - self.tell()) <= 0:
                raise OSError(errno.ENOSPC, "No space left on device")
            return write(self, memoryview(data)[:room])

        def truncate(self, size: int | None = None) -> int:
            if size is not None and size > self.room:
                raise OSError(errno.ENOSPC, "No space left on device")
            return truncate(self, size)

    class Steady(SteadyFile, Disk):
        pass

    for first in (b"0123456", b"0123456789abcdef"):
        (tmp_path / "file").write_bytes(b"")
        with Steady(tmp_path / "file", "r+") as file:
            assert file.write(first) == len(first)
            assert file.seek(4) == 4 and file.write(b"ABCDEFGHIJ") == 10 and file.tell() == 14
            assert file.truncate(20) == 20 and file.tell() == 14
            file.seek(0)
            expected = (first[:4] + b"ABCDEFGHIJ" + first[14:]).ljust(20, b"\0")
            room = bytearray(30)
            assert file.readinto(room) == 20 and bytes(room[:20]) == expected
            file.seek(2)
            assert file.read(3) == expected[2:5] and file.read() == expected[5:]
            with pytest.raises(OSError, match="No space left"):
                file.check()
        assert (tmp_path / "file").stat().st_size <= Disk.room


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file size are a thing of POSIX")
def test_a_full_disk_is_an_error_that_names_the_file(written: Path, tmp_path: Path) -> None:
    """The limit on the size of files stands for the full disk: what HDF5 meets is the same."""
    code = f"""
        import resource, nexdyn as nx
        result = nx.open_result({str(written)!r})
        result.peaks()
        for room in (0, 1000, 30_000, 100_000, 300_000):
            for name, save in (("run.nc", result.save), ("run.csv", result.to_csv)):
                open(name, "w").write("old")
                resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
                try:
                    save(name)
                except nx.FileError as error:
                    assert str(error) == name + ": cannot be written: File too large"
                else:
                    raise AssertionError(name)
                finally:
                    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
                assert open(name).read() == "old"
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert sorted(os.listdir(tmp_path)) == ["run.csv", "run.nc"]


def test_a_new_file_replaces_an_old_one_and_keeps_its_permissions(result: nx.Result, copy: Path) -> None:
    copy.write_text("old")
    copy.chmod(0o640)
    result.save(copy, full=False)
    assert len(nx.open_result(copy).recording.t) == 301
    assert copy.stat().st_mode & 0o777 == 0o640
    assert only_file(copy)


def test_a_link_stays_a_link(result: nx.Result, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "run.nc").symlink_to(tmp_path / "data" / "run.nc")
    result.save(tmp_path / "run.nc", full=False)
    assert (tmp_path / "run.nc").is_symlink()
    assert nx.open_result(tmp_path / "data" / "run.nc")


# --- where nothing can be written -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("run.mat", r"'.*run\.mat' ends in '\.mat'; a result file ends in \.nc or \.nc4"),
        ("run", r"'.*run' has no suffix; a result file ends in \.nc or \.nc4"),
        ("missing/run.nc", r"missing/run\.nc: cannot be written: there is no folder '.*missing'"),
        ("folder.nc", r"folder\.nc: cannot be written: it is a folder or a device"),
        ("locked.nc", r"locked\.nc: cannot be written: the file is write-protected"),
        ("x" * 300 + ".nc", r"x\.nc: cannot be written: File name too long"),
        ("a\0b.nc", r"path is .*; the name of a file is needed"),
    ],
)
def test_a_place_that_cannot_be_written_is_refused(
    result: nx.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str
) -> None:
    (tmp_path / "folder.nc").mkdir()
    (tmp_path / "locked.nc").write_text("old")
    (tmp_path / "locked.nc").chmod(0o444)
    monkeypatch.setattr(os, "access", lambda path, mode: bool(os.stat(path).st_mode & 0o200))  # root may write all
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(nx.InputError, match=message):
        result.save(f"{tmp_path}/{name}")
    assert sorted(os.listdir(tmp_path)) == before


def test_a_path_must_be_a_path(result: nx.Result) -> None:
    for path in (3, None, "", b"run.nc"):
        with pytest.raises(nx.InputError, match=r"path is .*; the name of a file is needed"):
            result.save(path)  # type: ignore[arg-type]


# --- files that are wrong -------------------------------------------------------------------------------------------


def refused(path: Path) -> str:
    """What `open_result` says of a file."""
    with pytest.raises(nx.FileError) as caught:
        nx.open_result(path)
    assert caught.value.file == str(path)
    return str(caught.value)


def test_a_file_that_is_cut_short_is_refused_wherever_it_is_cut(written: Path, tmp_path: Path) -> None:
    content = written.read_bytes()
    for part in np.linspace(0.0, 0.999, 25):
        path = tmp_path / "cut.nc"
        path.write_bytes(content[: int(part * len(content))])
        message = refused(path)
        assert any(reason in message for reason in ("is damaged or cut short", "is empty", "is no netCDF-4 file"))


@pytest.mark.parametrize("first", range(0, NOISY, 500))
def test_bytes_turned_to_noise_never_give_more_than_a_file_error(result: nx.Result, tmp_path: Path, first: int) -> None:
    rng = np.random.default_rng(first)
    result.save(tmp_path / "run.nc", full=False)
    content = np.frombuffer((tmp_path / "run.nc").read_bytes(), dtype=np.uint8)
    code = """
        import sys, warnings, nexdyn as nx
        for path in sys.argv[1:]:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    nx.open_result(path)
            except nx.FileError:
                pass
    """
    paths = []
    for k in range(first, min(first + 500, NOISY)):
        noisy = content.copy()
        at = rng.integers(8, min(len(noisy), 30_000), 20)
        noisy[at] = rng.integers(0, 256, 20)
        paths.append(tmp_path / f"noisy{k}.nc")
        paths[-1].write_bytes(noisy.tobytes())
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, paths)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
    for path in paths:
        path.unlink()


def test_files_of_others_are_refused(tmp_path: Path) -> None:
    assert refused(tmp_path / "none.nc").endswith("none.nc: no such file")
    assert refused(tmp_path).endswith("is a folder or a device")
    (tmp_path / "text.nc").write_text("time,q\n0,1\n")
    assert "is no netCDF-4 file" in refused(tmp_path / "text.nc")
    (tmp_path / "classic.nc").write_bytes(b"CDF\x01" + bytes(100))
    assert "is a netCDF file of the classic kind" in refused(tmp_path / "classic.nc")
    xr.Dataset({"x": ("t", [1.0, 2.0])}).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    assert "is a netCDF file, but no result of NexDyn" in refused(tmp_path / "other.nc")


def rewritten(path: Path, change: Callable[[Any], None]) -> None:
    with h5netcdf.File(path, "a") as file:
        change(file)


def reshaped(file: Any, name: str, shape: tuple[int, ...]) -> None:
    """A variable of another shape in place of `name`."""
    raw = file._h5file
    del raw[name]
    raw.create_dataset(name, shape, "f8")


def set_text(file: Any, text: str) -> None:
    file.variables["system_description"][...] = text


def add_body_key(file: Any) -> None:
    described = json.loads(file.variables["system_description"][...].item())
    described["bodies"]["a"]["weight"] = 1.0
    set_text(file, json.dumps(described))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.attrs.update(nexdyn_schema=99, source="NexDyn 9.0"), "by NexDyn 9.0 in layout 99; .* upgrade"),
        (lambda f: f.attrs.update(status=3.0), "status: is 3.0; text is needed"),
        (lambda f: f.attrs.update(status="quantum"), "status: is 'quantum'; 'finished', 'interrupted', 'failed' are known"),
        (lambda f: f.attrs.update(settings="{"), "is damaged"),
        (lambda f: f._h5file.__delitem__("joint_velocity"), "joint_velocity: is missing"),
        (lambda f: f._h5file.__delitem__("system_description"), "system_description: is missing"),
        (lambda f: reshaped(f, "joint_position", (301, 3)), r"joint_position: has shape \(301, 3\) .* \(301, 32\)"),
        (lambda f: reshaped(f, "joint_velocity", (7, 29)), r"joint_velocity: has shape \(7, 29\)"),
        (lambda f: f.variables["time"].__setitem__(3, 0.0), "time: must have times that increase"),
        (lambda f: f.variables["time"].__setitem__(300, np.nan), "time: must have times that increase"),
        (lambda f: set_text(f, "{"), "system_description: Expecting"),
        (lambda f: set_text(f, "[" * 100_000), "system_description: "),
        (lambda f: set_text(f, "[]"), "system_description: a description is a list"),
        (add_body_key, "system_description: unknown key 'weight' in body 'a'"),
    ],
)  # fmt: skip
def test_a_file_with_something_wrong_is_refused_by_its_name(
    copy: Path, change: Callable[[Any], None], message: str
) -> None:
    rewritten(copy, change)
    with pytest.raises(nx.FileError, match=message):
        nx.open_result(copy)


def test_a_claim_of_more_numbers_than_the_file_holds_is_refused(tmp_path: Path) -> None:
    nx.simulate(pendulum(), 0.01, nx.RungeKutta4(DT)).save(tmp_path / "bomb.nc", full=False)

    def bomb(file: Any) -> None:
        raw = file._h5file
        del raw["time"]
        raw.create_dataset("time", (10**12,), "f8", chunks=(10**6,))

    rewritten(tmp_path / "bomb.nc", bomb)
    assert "more than the file holds" in refused(tmp_path / "bomb.nc")


def test_reading_repeats_no_warning_about_the_model(tmp_path: Path) -> None:
    system = nx.System("odd")
    with pytest.warns(nx.NexDynWarning, match="principal moments"):
        system.add_body("b", mass=1.0, inertia=(1, 1, 5), strict=False)
    nx.simulate(system, 0.01, nx.RungeKutta4(DT)).save(tmp_path / "odd.nc")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nx.open_result(tmp_path / "odd.nc")


# --- CSV ------------------------------------------------------------------------------------------------------------


def read_csv(path: Path) -> tuple[list[str], np.ndarray]:
    with open(path, encoding="utf-8", newline="") as stream:
        head, *rows = csv.reader(stream)
    return head, np.array([[float(x) for x in row] for row in rows])


def test_csv_reads_back_to_the_last_digit(result: nx.Result, tmp_path: Path) -> None:
    what = ("joint_position", "position", "reaction", "energy", "measures")
    result.to_csv(tmp_path / "run.csv", what)
    head, numbers = read_csv(tmp_path / "run.csv")
    n = len(result.recording.t)
    parts = [result.t, result.joint_position(), result.position(), result.reaction()]
    parts += [result.energy()[name] for name in ("kinetic", "gravitational", "elastic", "total")]
    parts += list(result.measures().values())
    np.testing.assert_array_equal(numbers, np.concatenate([part.values.reshape(n, -1) for part in parts], axis=1))
    for name in ("time [s]", "joint_position.base.qw [1]", "position.limb.z [m]", "reaction.knee.mx [N m]",
                 "kinetic_energy [J]", "measure.where.x [m]", "measure.tilt [rad]"):  # fmt: skip
        assert name in head
    np.testing.assert_array_equal(numbers[:, head.index("position.limb.z [m]")], result.position("limb").sel(axis="z"))
    assert len(set(head)) == len(head)


def test_csv_holds_joint_motion_unless_told_otherwise(result: nx.Result, tmp_path: Path) -> None:
    result.to_csv(tmp_path / "run.csv")
    head, numbers = read_csv(tmp_path / "run.csv")
    assert numbers.shape == (301, 1 + result.tree.nq + 2 * result.tree.nv)
    assert head[-1].startswith("joint_acceleration.")
    assert "joint_velocity.knee [rad/s]" in head


@pytest.mark.parametrize(
    ("name", "what", "message"),
    [
        ("run.csv", "reactions", r"no quantity 'reactions'; did you mean 'reaction'\?"),
        ("run.csv", (), "what is empty; name some of energy, measures, joint_position"),
        ("run.tsv", "energy", r"ends in '\.tsv'; a CSV file ends in \.csv"),
    ],
)
def test_csv_refuses_what_it_does_not_know(
    result: nx.Result, tmp_path: Path, name: str, what: Any, message: str
) -> None:
    with pytest.raises(nx.InputError, match=message):
        result.to_csv(tmp_path / name, what)
    assert not list(tmp_path.iterdir())


def test_parts_that_killed_saves_left_are_removed_by_the_next_save(tmp_path: Path) -> None:
    """Those of this file, of processes that are no more, not written to for a minute; and all after a day."""
    gone = subprocess.Popen([sys.executable, "-c", "pass"])
    gone.wait()
    now = time.time()
    ages = {
        f".a.nc.{gone.pid}-1a.part": 120.0, f".a.nc.{os.getpid()}-1b.part": 90000.0,
        f".a.nc.{gone.pid}-1c.part": 5.0, f".a.nc.{os.getpid()}-1d.part": 120.0, f".b.nc.{gone.pid}-1e.part": 120.0,
        ".a.nc.notes.part": 90000.0,
    }  # fmt: skip
    for name, age in ages.items():
        (tmp_path / name).write_bytes(b"")
        os.utime(tmp_path / name, (now - age, now - age))
    nx.simulate(nx.load("hinge-chain"), 0.002).save(tmp_path / "a.nc")
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"a.nc", *list(ages)[2:]}
