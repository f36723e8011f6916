"""Kernels on disk: machine code of entries and bitcode of formulas, in files that no other state of the sources finds.

Numba keys its cache by the file that holds a function, and keeps an index of a function's signatures. Here the key is a hash of every
source file that a kernel can be made of (`kernel_folders`), and each signature has a file of its own (`Files`). What Numba's classes
are asked for is in the table of `numba_parts`.
"""

from __future__ import annotations

import contextlib
import hashlib
import time
import zlib
from pathlib import Path
from typing import Any

from nexdyn import kernel_folders
from nexdyn.compiler import machine_code, tiers
from nexdyn.compiler.codegen import BitcodeLibrary
from nexdyn.compiler.interrupts import signals_wait
from nexdyn.numba_parts import caching, compiler


class _Locator(caching._CacheLocator):
    """Where the code of a function lies: named by file and line, stamped with the hash of all that it is made of."""

    def __init__(self, file: Path, line: int) -> None:
        self._file, self._line, self._without = file, line, kernel_folders.not_part_of(file)

    def get_cache_path(self) -> str:
        return str(kernel_folders.cache_folder(self._without) or kernel_folders.SHIPPED)

    def get_source_stamp(self) -> str:
        if self._file.is_relative_to(kernel_folders.PACKAGE):
            return kernel_folders.source_hash(None, self._without)
        return kernel_folders.hash_of(self._file, kernel_folders.source_hash(None, kernel_folders.WORDS))

    def get_disambiguator(self) -> str:
        """What Numba's own name of the entry leaves out: the line, and the folder, which is the same in every copy of
        the package, so that copies share what they have compiled."""
        place = machine_code.page_of(str(self._file)) or self._file
        return f"{self._line}-{zlib.crc32(str(place).encode()):08x}"

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> _Locator | None:
        return cls(Path(py_file).resolve(), py_func.__code__.co_firstlineno) if kernel_folders.is_kept() else None


class _CacheImpl(caching.CompileResultCacheImpl):
    _locator_classes = [_Locator]  # noqa: RUF012

    def check_cachable(self, made: Any) -> bool:
        """Addresses of this process mean nothing to another."""
        return not made.library.has_dynamic_globals and made.library.kept

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """None where a part is kept no longer."""
        (name, kind, (code, names, needs)), *others = payload
        if not machine_code.load(target_context.codegen(), needs):
            return None
        return super().rebuild(target_context, ((name, kind, (code, names)), *others))


class Files(caching.IndexDataCacheFile):
    """A file for each signature, named by it.

    Numba numbers the files of a function, and keeps in an index which signature each is of. Of two processes that save at once one
    would overwrite the file of the other, and its index: later ones would find the code of another signature there, or none.
    """

    def save(self, key: Any, data: Any) -> None:
        self._save_data(self._name(key), (self._version, self._source_stamp, key, data))

    def load(self, key: Any) -> Any:
        try:
            version, stamp, known, data = self._load_data(self._name(key))
        except OSError:
            return None
        return data if (version, stamp, known) == (self._version, self._source_stamp, key) else None

    def flush(self) -> None:
        """A file that cannot be read is written again."""

    def _name(self, key: Any) -> str:
        return str(self._data_name(int(hashlib.sha256(repr(key).encode()).hexdigest()[:16], 16)))


class Cache(caching.FunctionCache):
    """A cache that never stops the work: a damaged file counts as none, a full disk keeps nothing.

    Nor does it keep what was compiled while the sources changed, which is of neither state.
    """

    _impl_class = _CacheImpl
    _serves = staticmethod(tiers.serves)

    def __init__(self, py_func: Any) -> None:
        super().__init__(py_func)
        self._cache_file = Files(self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            with signals_wait():
                return super().load_overload(sig, target_context)
        except Exception:
            with contextlib.suppress(OSError):
                self.flush()
            return None

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        found = super()._load_overload(sig, target_context)
        if found is None:
            return self._came_with_package(sig, target_context)
        self._serves(target_context.codegen().magic_tuple())
        return found

    def _came_with_package(self, sig: Any, target_context: Any) -> Any:
        locator = self._impl.locator
        folder = kernel_folders.shipped_folder(locator._without)
        if folder is None:
            return None
        shipped = Files(str(folder), self._impl.filename_base, locator.get_source_stamp())
        signature, _, function = self._index_key(sig, target_context.codegen())
        for kind in tiers.kinds(target_context.codegen()):
            data = shipped.load((signature, kind, function))
            found = None if data is None else self._impl.rebuild(target_context, data)
            if found is not None:
                self._serves(kind)
                return found
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        self._serves(data.target_context.codegen().magic_tuple())
        without = self._impl.locator._without
        if kernel_folders.cache_folder(without) is None:
            return
        with contextlib.suppress(OSError):
            if kernel_folders.unchanged(without, int(time.monotonic())):
                super().save_overload(sig, data)


class _BitcodeLocator(_Locator):
    """Where the bitcode of a function lies: beside its machine code."""

    def get_disambiguator(self) -> str:
        return super().get_disambiguator() + "-inner"


class _BitcodeCacheImpl(_CacheImpl):
    _locator_classes = [_BitcodeLocator]  # noqa: RUF012

    def reduce(self, data: Any) -> Any:
        """As Numba does, but without a search for environments, which only what Python calls has."""
        (name, kind, (bitcode, parts)), descriptor = data.library.serialize_using_object_code(), data.fndesc
        library = name, kind, (bitcode, machine_code.put_by(parts))
        descriptor.typemap = descriptor.calltypes = None
        return (
            library, descriptor, data.environment, data.signature, data.objectmode, data.lifted, "", data.reload_init, (),
        )  # fmt: skip

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        (name, _, (bitcode, kept)), fndesc, env, signature, objectmode, lifted, annotation, reload_init, envs = payload
        parts = machine_code.taken_out(kept)
        if parts is None:
            return None
        library = BitcodeLibrary.read(target_context.codegen(), name, bitcode, parts)
        result: Any = compiler.CompileResult
        return result(
            target_context=target_context,
            typing_context=target_context.typing_context,
            library=library,
            environment=env,
            entry_point=target_context.get_executable(library, fndesc, env),
            fndesc=fndesc,
            type_annotation=annotation,
            signature=signature,
            objectmode=objectmode,
            lifted=lifted,
            typing_error=None,
            call_helper=None,
            metadata=None,
            reload_init=reload_init,
            referenced_envs=envs,
        )


class BitcodeCache(Cache):
    """Bitcode is run by nobody: what is made of it is."""

    _impl_class = _BitcodeCacheImpl

    @staticmethod
    def _serves(kind: tiers.Kind) -> None:
        """It is no machine code."""
