"""JSON that every reader takes as it is meant: a float carries a decimal point (1.0, 1.0e-06), and there is no NaN."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping
from typing import Any

INDENT = "  "


def to_json(data: Any, indent: str = "") -> str:
    """`data` as JSON in ASCII: mappings, sequences, arrays, numbers, text, None; NaN and infinities become null."""
    if hasattr(data, "tolist"):  # NumPy's scalars and arrays
        data = data.tolist()
    if data is None or isinstance(data, bool | str):
        return json.dumps(data)
    if isinstance(data, int):
        return str(data)
    if isinstance(data, float):
        return _number(data)
    if isinstance(data, os.PathLike):
        return json.dumps(os.fspath(data))
    inner = indent + INDENT
    if isinstance(data, Mapping):
        items = [f"{json.dumps(str(key))}: {to_json(value, inner)}" for key, value in data.items()]
        return f"{{\n{inner}" + f",\n{inner}".join(items) + f"\n{indent}}}" if items else "{}"
    if isinstance(data, Iterable):
        items = [to_json(value, inner) for value in data]
        short = f"[{', '.join(items)}]"
        if len(short) < 100 and "{" not in short:
            return short
        return f"[\n{inner}" + f",\n{inner}".join(items) + f"\n{indent}]"
    raise TypeError(f"{type(data).__name__} has no JSON form")


def _number(x: float) -> str:
    if not math.isfinite(x):
        return "null"
    text = repr(x)
    return text if "." in text else text.replace("e", ".0e")
