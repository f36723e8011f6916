"""Files that are there whole or not at all.

The content goes to a new file in the same folder, is forced to the disk, and takes the place of the old file in one
step. Whatever fails before leaves the old file as it was.
"""

from __future__ import annotations

import contextlib
import glob
import io
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nexdyn.errors import FileError, InputError

PathLike = str | os.PathLike[str]
MINUTE, DAY = 60.0, 86400.0


def file_path(path: PathLike, suffixes: tuple[str, ...], what: str) -> Path:
    """`path` as a Path; InputError unless it is one with a suffix that `what` has."""
    found = Path(checked_path(path))
    if found.suffix.lower() not in suffixes:
        end = f"ends in {found.suffix!r}" if found.suffix else "has no suffix"
        raise InputError(f"{str(found)!r} {end}; {what} ends in {' or '.join(suffixes)}")
    return found


def checked_path(path: PathLike) -> str:
    """`path` as text; InputError where it is none."""
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else ""
    if not isinstance(text, str) or not text or "\0" in text:
        raise InputError(f"path is {path!r}; the name of a file is needed")
    return text


@contextlib.contextmanager
def written(path: Path) -> Iterator[Path]:
    """The place to write to; it becomes `path` when the block ends without an error.

    Raises FileError naming `path` where a file cannot be written.
    """
    try:
        target = Path(os.path.realpath(path))  # a link stays, the file it leads to changes
        _check_target(path, target)
        _sweep(target)
        temporary = target.with_name(f".{target.name[:200]}.{os.getpid()}-{os.urandom(4).hex()}.part")
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    except (OSError, ValueError) as error:
        raise _cannot(path, error) from error
    try:
        yield temporary
        _keep(temporary, target)
    except OSError as error:
        raise _cannot(path, error) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def _sweep(target: Path) -> None:
    """Remove what saves of this file left behind that were killed: parts that no living process of this machine has written to
    for a minute (another machine may share the folder), or that nobody has for a day."""
    for part in target.parent.glob(f".{glob.escape(target.name[:200])}.*-*.part"):
        with contextlib.suppress(OSError, ValueError):
            process = int(part.name.rsplit(".", 2)[1].partition("-")[0])
            idle = time.time() - part.stat().st_mtime
            if idle > DAY or (idle > MINUTE and not _lives(process)):
                part.unlink()


def _lives(process: int) -> bool:
    """Whether a process of this machine may still write."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _check_target(path: Path, target: Path) -> None:
    if not target.parent.is_dir():
        raise FileError(f"cannot be written: there is no folder {str(path.parent)!r}", file=str(path))
    if target.exists() and not target.is_file():
        raise FileError("cannot be written: it is a folder or a device", file=str(path))
    if target.exists() and not os.access(target, os.W_OK):
        raise FileError("cannot be written: the file is write-protected", file=str(path))


def _keep(temporary: Path, target: Path) -> None:
    """Force the content to the disk, then rename."""
    with temporary.open("rb+") as stream:
        os.fsync(stream.fileno())
    if target.exists():
        os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))
    os.replace(temporary, target)
    if os.name == "posix":
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            with contextlib.suppress(OSError):  # some file systems cannot sync a folder
                os.fsync(folder)
        finally:
            os.close(folder)


class SteadyFile(io.FileIO):
    """A file whose writes seem to succeed always, for HDF5, which crashes the process where one fails.

    From the first that fails on, it is a file in memory with the same content: HDF5 reads back what it has written. `check` raises what
    went wrong; ask it often, and before the file is used.
    """

    error: OSError | None = None
    _instead: io.BytesIO | None = None

    def check(self) -> None:
        """Raise the first error of a write."""
        if self.error is not None:
            raise self.error

    def _go_on_in_memory(self, error: OSError, place: int) -> io.BytesIO:
        self.error = error
        super().seek(0)
        self._instead = io.BytesIO(super().readall())
        self._instead.seek(place)
        return self._instead

    def write(self, data: Any) -> int:
        start, rest = self.tell(), memoryview(data).cast("B")
        if self._instead is None:
            try:
                while len(rest):
                    rest = rest[super().write(rest) :]
            except OSError as error:
                return self._go_on_in_memory(error, start).write(data)
            return self.tell() - start
        return self._instead.write(data)

    def truncate(self, size: int | None = None) -> int:
        if self._instead is None:
            try:
                return super().truncate(size)
            except OSError as error:
                self._go_on_in_memory(error, self.tell())
        memory, length = self._instead, self.tell() if size is None else size
        assert memory is not None
        memory.truncate(length)
        if (lacking := length - len(memory.getbuffer())) > 0:  # in memory nothing is lengthened by that
            place = memory.tell()
            memory.seek(0, io.SEEK_END)
            memory.write(bytes(lacking))
            memory.seek(place)
        return length

    def readinto(self, buffer: Any) -> int | None:
        return super().readinto(buffer) if self._instead is None else self._instead.readinto(buffer)

    def read(self, size: int | None = -1) -> bytes:
        size = -1 if size is None else size
        return (super().read(size) or b"") if self._instead is None else self._instead.read(size)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return super().seek(offset, whence) if self._instead is None else self._instead.seek(offset, whence)

    def tell(self) -> int:
        return super().tell() if self._instead is None else self._instead.tell()


def _cannot(path: Path, error: Exception) -> FileError:
    if isinstance(error, FileError):
        return error
    return FileError(f"cannot be written: {getattr(error, 'strerror', None) or error}", file=str(path))
