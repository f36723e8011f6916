"""What objects consist of: the items, attributes and other contents that distinguish one from another of its class.

    object → items, where its class is one of Python's containers, numbers or texts, or is made of one
           → attributes, in ``__dict__`` and in slots
           → what else a class made of C keeps, where it can be read: by ``pickle``, or as memory, by a reference, as a place in a file

What names of a module a function follows (``random.random``, ``numpy.random.rand``) is here too: some are methods of an object that the
module hides.
"""

from __future__ import annotations

import collections
import ctypes
import dis
import functools
import gc
import io
import itertools
import os
import sys
import threading
import types
import weakref
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

PLAIN_KINDS = (bool, int, float, complex, str, bytes, bytearray, list, tuple, set, frozenset, dict)
"""Python's own numbers, texts and containers. Their subclasses have attributes and methods as well as contents."""
WEAK_REFERENCES: tuple[Any, ...] = (weakref.ref, *weakref.ProxyTypes)
C_FUNCTION: Any = ctypes._CFuncPtr  # type: ignore[attr-defined]
C_FIELD = type(type("One", (ctypes.Structure,), {"_fields_": [("x", ctypes.c_int)]}).x)  # type: ignore[attr-defined]
"""What structures of C have in place of their fields, which ``_fields_`` names."""
_DESCRIPTORS = (types.MethodDescriptorType, types.WrapperDescriptorType, types.GetSetDescriptorType)
_OF_INSTANCES = ("__dict__", "__weakref__")
_BETWEEN = frozenset(["CACHE", "COPY", "EXTENDED_ARG", "NOP", "PUSH_NULL", "SWAP"])
_NAMES = {"LOAD_GLOBAL": "global", "LOAD_NAME": "global", "LOAD_DEREF": "cell", "LOAD_FAST": "", "LOAD_FAST_CHECK": ""}
_ATTRIBUTES = frozenset(["LOAD_ATTR", "LOAD_METHOD"])


def plain_kind(x: Any) -> type | None:
    """Which of Python's numbers, texts and containers an object is or is made of."""
    return next((kind for kind in PLAIN_KINDS if issubclass(type(x), kind)), None)


def items_of(x: Any, kind: type) -> Any:
    """The contents of an object made of `kind`, as that keeps them, whatever methods its class has in their place."""
    if kind is dict:
        ordered = isinstance(x, collections.OrderedDict)
        return list(collections.OrderedDict.items(x) if ordered else dict.items(x))
    if kind in (bytes, bytearray):
        return bytes(memoryview(x))
    if kind is int:  # of any size
        return int.__format__(x, "x")
    made: Any = kind
    return list(made.__iter__(x)) if kind in (list, tuple, set, frozenset) else made.__repr__(x)


def attributes(x: Any) -> dict[str, Any]:
    """The attributes of an object: those in its ``__dict__``, in slots, and those that classes made of C let see."""
    state: dict[str, Any] = {}
    for cls in type(x).__mro__:
        own = cls.__dict__.get("__dict__")
        if isinstance(own, types.GetSetDescriptorType):
            state |= vars(x) if isinstance(x, threading.local) else own.__get__(x)
        elif own is not None:  # the user's, which may give anything
            state["__dict__"] = [value for value in gc.get_referents(x) if value is not type(x)]
        for name, slot in cls.__dict__.items():
            if isinstance(slot, types.MemberDescriptorType) and not (name.startswith("__") and name.endswith("__")):
                with suppress(AttributeError):  # empty yet
                    state[name if name not in state else f"{cls.__qualname__}.{name}"] = slot.__get__(x)
    return state


@functools.lru_cache(4096)
def is_made_of_c(cls: type) -> bool:
    """Whether objects of a class may keep what is no attribute: it, or one that it is made of, is of C."""
    return any(_has_c(kind) for kind in cls.__mro__ if kind is not object)


def _has_c(cls: type) -> bool:
    return any(
        isinstance(x, _DESCRIPTORS) and x.__objclass__ is cls and name not in _OF_INSTANCES
        for name, x in cls.__dict__.items()
    )


@functools.lru_cache(4096)
def tells_pickle(cls: type) -> bool:
    """Whether a class says itself what of its objects ``pickle`` keeps."""
    return any(
        getattr(cls, name, None) is not getattr(object, name, None)
        for name in ("__reduce__", "__reduce_ex__", "__getstate__")
    )


def referent(x: Any) -> Any:
    """What a weak reference refers to; None where that is gone."""
    if isinstance(x, weakref.ref):
        return weakref.ref.__call__(x)
    try:
        return x.__str__.__self__
    except ReferenceError:
        return None


def place_in_file(x: io.IOBase) -> list[Any]:
    """Where a file is read or written, and how much is in it. OSError or ValueError where it has no place."""
    name = getattr(x, "name", None)
    if x.closed:
        return [name, "closed"]
    place, of_file = x.tell(), os.fstat(x.fileno())
    return [name, place, of_file.st_size, of_file.st_mtime_ns]


def is_standard_stream(x: Any) -> bool:
    streams = (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__)
    return any(x is stream or x is getattr(stream, "buffer", None) for stream in streams)


def followed(code: types.CodeType) -> Iterator[tuple[str, str, list[str]]]:
    """Names, and the attributes that are taken from each one after the other, as a code and those inside it do, and what the names are of:
    ("global", "np", ["random", "rand"]). Modules that are imported there have their whole names."""
    codes: list[types.CodeType] = [code]
    imported: dict[str, str] = {}
    while codes:
        code = codes.pop()
        codes += [x for x in code.co_consts if isinstance(x, types.CodeType)]
        steps = [x for x in dis.get_instructions(code) if x.opname not in _BETWEEN]
        for k, step in enumerate(steps):
            if step.opname == "IMPORT_NAME":
                after = list(itertools.takewhile(_is_of_import, steps[k + 1 :]))
                taken = [x.argval for x in after if x.opname == "IMPORT_FROM"]
                stored = [x.argval for x in after if x.opname.startswith("STORE_")]
                if steps[k - 1].argval is not None:  # from … import …
                    imported |= {name: f"{step.argval}.{x}" for name, x in zip(stored, taken, strict=False)}
                    yield from (("import", step.argval, [x]) for x in taken)
                elif stored:
                    imported[stored[0]] = step.argval if taken else step.argval.partition(".")[0]
            elif step.opname in _NAMES:
                chain = [x.argval for x in itertools.takewhile(lambda x: x.opname in _ATTRIBUTES, steps[k + 1 :])]
                if chain:
                    yield _NAMES[step.opname], step.argval, chain
                    if step.argval in imported:
                        yield "import", imported[step.argval], chain


def _is_of_import(step: dis.Instruction) -> bool:
    return step.opname in ("IMPORT_FROM", "POP_TOP") or step.opname.startswith("STORE_")
