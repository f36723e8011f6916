"""Machine code of formulas that stay calls: made once, and loaded beside every entry that calls them.

An entry is machine code of its own and of what LLVM may copy into it. What is `outlined` never is copied, so it need not be
compiled again with each entry: it is an object file of its own, kept on disk, and the engine resolves the calls by name. Names are of
one compilation (they hold a random number, see `kernel`), so whatever has the name is the same code, of whichever sources.

    file     name of the part and kind of the machine, hashed
    content  a digest, the names of what it calls, and the object file, compressed

Its bitcode is kept likewise, for entries that are compiled later: once, whichever formulas call it, and for all kinds of machines.

The entries of one formulation share most of what they are made of. Compiled whole, they took seven tenths of the time in which the
tests' kernels are compiled.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from nexdyn import kernel_folders
from nexdyn.compiler import tiers
from nexdyn.numba_parts import llvm


class Part(NamedTuple):
    """A formula that is not always copied into its callers."""

    bitcode: bytes
    """Compressed."""
    apart: bool
    """Whether it has machine code of its own; else LLVM may copy it into its callers."""
    calls: tuple[str, ...]
    """Names of the parts that it calls."""
    page: str
    """The file that it is written in, from the package's folder; "" of what was written at run time."""
    kept: bool
    """Whether its machine code may be kept: no address of this process is in it, or in what it calls."""


def page_of(file: str) -> str:
    """The page of a file of the package; "" for other files."""
    place = Path(file)
    return place.relative_to(kernel_folders.PACKAGE).as_posix() if place.is_relative_to(kernel_folders.PACKAGE) else ""


def link_near(module: Any, context: Any, parts: dict[str, Part]) -> None:
    """Link what the module calls and LLVM may copy into it. parts: each comes after those that it calls."""
    wanted = {f.name for f in module.functions if f.is_declaration}
    for name, part in reversed(parts.items()):  # callers first: the linker leaves out what has no caller
        if name in wanted and not part.apart:
            module.link_in(llvm.parse_bitcode(zlib.decompress(part.bitcode), context))
            wanted.update(part.calls)


def needs_of(module: Any, parts: dict[str, Part]) -> tuple[str, ...]:
    """The parts that a module calls and does not hold."""
    return tuple(f.name for f in module.functions if f.is_declaration and f.name in parts)


def make_private(module: Any, entered: set[str]) -> None:
    """What is called from here alone is private: LLVM may leave out arguments that it does not read, and tests that no caller needs.

    Private, not internal: the engine finds internal functions by name, too, and would let other code of the process, which has the
    same function, call what is left of it here."""
    for function in module.functions:
        if not function.is_declaration and function.name not in entered:
            function.linkage = llvm.Linkage.private


def load(generator: Any, needs: Iterable[str], parts: dict[str, Part] | None = None) -> bool:
    """Give the engine the machine code of parts, each after those that it calls; False where one is not kept and not among `parts`."""
    engine = generator._engine
    for name in needs:
        if engine.is_symbol_defined(name):
            continue
        found = _read(generator, name) or _made(generator, name, parts or {})
        if found is None or not load(generator, found[0], parts):
            return False
        engine._ee.add_object_file(llvm.ObjectFileRef.from_data(found[1]))
        engine._defined_symbols.add(name)
    return True


Code = tuple[tuple[str, ...], bytes]
"""What an object file calls, and the file."""


def _made(generator: Any, name: str, parts: dict[str, Part]) -> Code | None:
    """The part `name`, compiled, and kept on disk where it may be."""
    if name not in parts:
        return None
    part, context = parts[name], llvm.create_context()
    module = llvm.parse_bitcode(zlib.decompress(part.bitcode), context)
    link_near(module, context, parts)
    make_private(module, {name})
    module.get_function(name).linkage = llvm.Linkage.external
    for variable in module.global_variables:
        if not variable.is_declaration:
            variable.linkage = llvm.Linkage.private
    passes, builder = generator._module_pass_manager()
    passes.run(module, builder)
    code = needs_of(module, parts), generator._tm.emit_object(module)
    if part.kept:
        content = json.dumps(code[0]).encode() + b"\n" + zlib.compress(code[1], 1)
        _write(_file(name, generator.magic_tuple(), kernel_folders.parts_folder()), part.page, content)
    return code


# --- bitcode of parts: once on disk, and once in a process ----------------------------------------------------------------------------

_PARTS: dict[str, Part] = {}
"""Parts that came from the disk."""
_put_by: set[str] = set()
"""Parts that this process has put there."""


def put_by(parts: dict[str, Part]) -> dict[str, Part]:
    """Parts as the file of a formula holds them: without their bitcode, which has a file of its own, since many formulas call it."""
    folder = kernel_folders.parts_folder()
    out = {}
    for name, part in parts.items():
        if name in _put_by or name in _PARTS or _write(_file(name, BITCODE, folder), part.page, part.bitcode):
            _put_by.add(name)
            out[name] = part._replace(bitcode=b"")
        else:
            out[name] = part
    return out


def taken_out(parts: dict[str, Part]) -> dict[str, Part] | None:
    """The same with their bitcode; None where that of one is kept no longer."""
    out = {}
    for name, part in parts.items():
        known = _PARTS.get(name)
        if known is None:
            bitcode = part.bitcode or _content(name, BITCODE)
            if not bitcode:
                return None
            known = _PARTS[name] = part._replace(bitcode=bitcode)
        out[name] = known
    return out


# --- files ------------------------------------------------------------------------------------------------------------

BITCODE = ("bitcode",)
"""Is the same for all processors."""


def _file(name: str, kind: tuple[str, ...], folder: Path | None) -> Path | None:
    """Where what is made of a part for `kind` is kept in `folder`."""
    key = hashlib.sha256(repr((name, kind)).encode()).hexdigest()
    return None if folder is None else folder / f"{key[:32]}.{'bitcode' if kind == BITCODE else 'part'}"


def _read(generator: Any, name: str) -> Code | None:
    """The machine code of a part as it was kept, or came with the package; None where it was not, or is damaged."""
    for kind in tiers.kinds(generator):
        if content := _content(name, kind):
            needs, code = content.split(b"\n", 1)
            return tuple(json.loads(needs)), zlib.decompress(code)
    return None


def _content(name: str, kind: tuple[str, ...]) -> bytes:
    """What is kept of a part, or came with the package; nothing where it was not, or is damaged."""
    for folder in (kernel_folders.parts_folder(), kernel_folders.SHIPPED / kernel_folders.PARTS):
        file = _file(name, kind, folder)
        try:
            digest, content = (b"", b"") if file is None else file.read_bytes().split(b"\n", 1)
        except (OSError, ValueError):
            continue
        if file is not None and hashlib.sha256(content).hexdigest().encode() == digest:
            with contextlib.suppress(OSError):
                os.utime(file)  # used: see `kernel_folders`
            return content
    return b""


def _write(file: Path | None, page: str, content: bytes) -> bool:
    """Keep what is made of a part, unless its sources changed meanwhile or nothing can be written; whether it is kept."""
    if file is None:
        return False
    without = kernel_folders.not_part_of(kernel_folders.PACKAGE / page) if page else ()
    unfinished = file.with_suffix(f".{os.getpid()}")
    try:
        if kernel_folders.unchanged(without, int(time.monotonic())):
            unfinished.write_bytes(hashlib.sha256(content).hexdigest().encode() + b"\n" + content)
            unfinished.replace(file)
            return True
    except OSError:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)
    return False
