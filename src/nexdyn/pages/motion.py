"""The C functions of a registered joint (``joints.registered``), written as text around the functions of its page.

    Ḣ along v   Σ w_i (H(q + i h v/|v|) − H(q − i h v/|v|)) |v|/h     sixth order: about 1e-13 where H changes over units
    Ḣ q̇         Σ ḣ_m v_m, or `bias` of the page;   its slopes by the same differences
    G           (HᵀH)⁻¹ Hᵀ
    W           `constraint_subspace` of the page, or P e_i of some of the six unit forces, P = 1 − H (HᵀH)⁻¹ Hᵀ

As constraints between bodies, with q = coordinates_of(R, p) and the error e = (log(R(q)ᵀ R), R(q)ᵀ (p − p(q))) in axes of B:

    C_i = W_i(q) · e,   ∂C_i/∂(p, θ) = (R(q) f_i, n_i)  with W_i = (n_i, f_i)      up to terms of the size of C

which on the joint's motions is right to the second derivative along them: there e vanishes, and γ = Wᵀ Ḣ q̇.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from nexdyn.errors import InputError
from nexdyn.joints.registered import HEAD, MOST
from nexdyn.model.callbacks import stored
from nexdyn.model.joint import Joint
from nexdyn.pages.functions import SCOPE, PageFunction, check_arguments, jitted, matrix, plain_of, vector
from nexdyn.pages.numbers import numbers_of
from nexdyn.pages.samples import sampled, sampled_q
from nexdyn.spatial.algebra import Mat3, Vec3

STEP, WIDE = 2e-3, 1e-2
"""Steps of differences of H, and of differences of differences."""
LEAST = 0.1
"""How well columns P e_i must tell directions apart."""


class Functions:
    """C functions of a page of a joint: its motion; value and gradient of its rows, compiled where bodies first need them; which rows are
    lengths; whether the columns of H are at right angles everywhere."""

    def __init__(
        self, name: str, made: Callable[[str], tuple[Any, Any]], lengths: tuple[bool, ...], square: bool
    ) -> None:
        self._name, self._made, self.lengths, self.square = name, made, lengths, square
        self.motion = self._function("the motion", "motion", 13, 36)

    @cached_property
    def value(self) -> PageFunction:
        """C of one row."""
        return self._function("the rows", "value", 14, 1)

    @cached_property
    def gradient(self) -> PageFunction:
        """Its gradient."""
        return self._function("the rows", "gradient", 14, 7)

    def _function(self, what: str, body: str, room: int, out: int) -> PageFunction:
        return PageFunction(f"{what} of {self._name}", *self._made(body), room, out)

    @property
    def known(self) -> tuple[PageFunction, ...]:
        """Those that are compiled by now."""
        return tuple(x for x in self.__dict__.values() if isinstance(x, PageFunction))


def names_of(page: Any) -> list[str]:
    """The numbers of a page."""
    return list(numbers_of(page, Joint))


def solved(H: Any, n: Any, G: Any) -> Any:
    """G of (H Hᵀ) G = H, of n columns one after another; NaN where columns depend on each other."""
    A = np.zeros(25)
    for i in range(n):
        for k in range(6):
            G[6 * i + k] = H[6 * i + k]
        for j in range(n):
            for k in range(6):
                A[5 * i + j] += H[6 * i + k] * H[6 * j + k]
    for i in range(n):
        pivot = A[6 * i] if A[6 * i] > 0.0 else math.nan
        for j in range(n):
            if j != i:
                f = A[5 * j + i] / pivot
                for m in range(n):
                    A[5 * j + m] -= f * A[5 * i + m]
                for k in range(6):
                    G[6 * j + k] -= f * G[6 * i + k]
    for i in range(n):
        for k in range(6):
            G[6 * i + k] /= A[6 * i] if A[6 * i] > 0.0 else math.nan


def rotation_vector(R: Any) -> Any:
    """log R."""
    x, y, z = 0.5 * (R.zy - R.yz), 0.5 * (R.xz - R.zx), 0.5 * (R.yx - R.xy)
    s, c = math.sqrt(x * x + y * y + z * z), 0.5 * (R.xx + R.yy + R.zz - 1.0)
    k = 1.0 if s < 1e-9 else math.atan2(s, c) / s
    return Vec3(k * x, k * y, k * z)


def transposed(R: Any) -> Any:
    """Rᵀ."""
    return Mat3(R.xx, R.yx, R.zx, R.xy, R.yy, R.zy, R.xz, R.yz, R.zz)


def joint_functions(page: Any) -> Functions:
    """The C functions of a page. InputError, naming it, for a function that is missing, takes what is not given, or cannot be compiled."""
    n, numbers = page.nv, names_of(page)
    given = _given(page, n, numbers)
    called = {name: plain_of(given[name]) for name in given}
    axes, square = _across(page, n)
    text = _text(page, n, given, numbers, axes)

    def made(turned: Callable[[Any], Any]) -> dict[str, Any]:
        scope: dict[str, Any] = SCOPE | {name: turned(f) for name, f in called.items()}
        scope |= {"math": math, "stored": stored, "turned": turned, "T": turned(transposed)}
        scope |= {"solved": turned(solved), "log": turned(rotation_vector)}
        exec(text, scope)
        return scope

    compiled, plain = made(jitted), made(plain_of)
    return Functions(page.__name__, lambda body: (compiled[body], plain[body]), _lengths(page, n, axes), square)


GIVEN = {
    "pose": ("q",), "motion_subspace": ("q",), "coordinates_of": ("R", "p"), "bias": ("q", "v"), "constraint_subspace": ("q",),
}  # fmt: skip
NEEDED = ("pose", "motion_subspace", "coordinates_of")


def _given(page: Any, n: int, numbers: Sequence[str]) -> dict[str, Any]:
    """The functions of a page that it has."""
    missing = [name for name in NEEDED if getattr(page, name, None) is None]
    if missing:
        raise InputError(f"the page {page.__name__} has no {', '.join(missing)}; it needs {', '.join(NEEDED)}")
    found = {name: getattr(page, name) for name in GIVEN if getattr(page, name, None) is not None}
    for name, f in found.items():
        check_arguments(f"{name} of {page.__name__}", f, GIVEN[name], numbers)
    return found


def _text(page: Any, n: int, given: dict[str, Any], numbers: Sequence[str], axes: Sequence[int]) -> str:
    """The functions as text."""
    own = {name: f"stored(b + {8.0 * (HEAD + i)})" for i, name in enumerate(numbers)}

    def vector_of(name: str) -> str:
        return f"{name}[0]" if n == 1 else f"({', '.join(f'{name}[{i}]' for i in range(n))})"

    expressions = {"q": vector_of("q"), "v": vector_of("v"), "R": "R", "p": "p", **own}

    def call(name: str) -> str:
        arguments = check_arguments(f"{name} of {page.__name__}", given[name], GIVEN[name], numbers)
        return f"{name}({', '.join(expressions[argument] for argument in arguments)})"

    def unpacked(letter: str, count: int, what: str) -> str:
        return (
            f"    {letter}0 = {what}"
            if count == 1
            else f"    {', '.join(f'{letter}{i}' for i in range(count))} = {what}"
        )

    def rows(letter: str, count: int, table: str, parts: str) -> list[str]:
        return [
            f"    {table}[{6 * m + 3 * i + k}] = {letter}{m}.{part}.{axis}"
            for m in range(count) for i, part in enumerate(parts) for k, axis in enumerate("xyz")
        ]  # fmt: skip

    m = 6 - n
    if "bias" in given:
        bias = [
            f"    h = {call('bias')}",
            *(f"    out[{3 * i + k}] = h.{p}.{x}" for i, p in enumerate("wv") for k, x in enumerate("xyz")),
        ]
    else:
        bias = [
            "    D = np.empty(6 * N)", "    rates(q, v, b, D)", "    for k in range(6):", "        out[k] = 0.0",
            "        for i in range(N):", "            out[k] += D[6 * i + k] * v[i]",
        ]  # fmt: skip
    if "constraint_subspace" in given:
        across = [unpacked("w", m, call("constraint_subspace")), *rows("w", m, "W", "nf")]
    else:
        across = ["    H = np.empty(6 * N)", "    G = np.empty(6 * N)", "    columns(q, b, H)", "    solved(H, N, G)"]
        for i, k in enumerate(axes):
            across += [
                "    for k in range(6):", f"        W[{6 * i} + k] = 1.0 if k == {k} else 0.0", "        for j in range(N):",
                f"            W[{6 * i} + k] -= H[6 * j + k] * G[6 * j + {k}]",
            ]  # fmt: skip
    wide = WIDE if "bias" not in given else STEP
    return "\n".join([
        f"N = {n}",
        "@turned", "def columns(q, b, H):", unpacked("h", n, call("motion_subspace")), *rows("h", n, "H", "wv"),
        "@turned", "def rates(q, v, b, D):",
        "    size = 0.0", "    for k in range(6 * N):", "        D[k] = 0.0",
        "    for i in range(N):", "        size += v[i] * v[i]", "    size = math.sqrt(size)",
        "    if size == 0.0:", "        return", "    H = np.empty(6 * N)", "    x = np.empty(N)",
        "    for i in range(6):",
        "        a = float(i - 3 if i < 3 else i - 2)", "        w = (-1.0, 9.0, -45.0, 45.0, -9.0, 1.0)[i] / 60.0",
        "        for j in range(N):", f"            x[j] = q[j] + a * {STEP} / size * v[j]", "        columns(x, b, H)",
        "        for k in range(6 * N):", f"            D[k] += w * size / {STEP} * H[k]",
        "@turned", "def bias_of(q, v, b, out):", *bias,
        "@turned", "def bent(q, v, b, m, out):",
        "    for k in range(6):", "        out[k] = 0.0", "    x = np.empty(N)", "    f = np.empty(6)",
        "    for i in range(6):",
        "        a = float(i - 3 if i < 3 else i - 2)", "        w = (-1.0, 9.0, -45.0, 45.0, -9.0, 1.0)[i] / 60.0",
        "        for j in range(N):", f"            x[j] = q[j] + (a * {wide} if j == m else 0.0)", "        bias_of(x, v, b, f)",
        "        for k in range(6):", f"            out[k] += w / {wide} * f[k]",
        "@turned", "def across(q, b, W):", *across,
        "@turned", "def place(R, p, b, out):", unpacked("x", n, call("coordinates_of")), *(f"    out[{i}] = x{i}" for i in range(n)),
        "@turned", "def motion(t, s, out):",
        "    b, what = s[0], int(t)", f"    q, v = s[1:{1 + n}], s[6:{6 + n}]",
        "    if what == 0:", f"        X = {call('pose')}", "        A, p = X.R, X.p",
        "        out[0], out[1], out[2], out[3], out[4] = A.xx, A.xy, A.xz, A.yx, A.yy",
        "        out[5], out[6], out[7], out[8] = A.yz, A.zx, A.zy, A.zz", "        out[9], out[10], out[11] = p.x, p.y, p.z",
        "    elif what == 1:", "        columns(q, b, out)",
        "    elif what == 2:", "        bias_of(q, v, b, out)",
        "    elif what == 3 or what == 4:", "        D, m = np.empty(6 * N), 6 * int(s[12])", "        e = np.empty(N)",
        "        for i in range(N):", "            e[i] = v[i] if what == 3 else (1.0 if i == int(s[11]) else 0.0)",
        "        rates(q, e, b, D)", "        for k in range(6):", "            out[k] = D[m + k]",
        "    elif what == 5:", "        bent(q, v, b, int(s[11]), out)",
        "    elif what == 6:", "        across(q, b, out)",
        "    elif what == 7:", "        H = np.empty(6 * N)", "        columns(q, b, H)", "        solved(H, N, out)",
        "    else:", f"        place({matrix(1)}, {vector(10)}, b, out)",
        "@turned", "def seen(s, q, W):",
        f"    x, R, b = {vector(0)}, {matrix(3)}, s[13]", "    place(R, x, b, q)", "    across(q, b, W)",
        f"    X = {call('pose')}", "    A = T(X.R)", "    return X, log(A @ R), A @ (x - X.p)",
        "@turned", "def value(t, s, out):",
        "    q, W, i = np.empty(N), np.empty(36), 6 * int(s[12])", "    _, n, f = seen(s, q, W)",
        "    out[0] = W[i] * n.x + W[i + 1] * n.y + W[i + 2] * n.z + W[i + 3] * f.x + W[i + 4] * f.y + W[i + 5] * f.z",
        "@turned", "def gradient(t, s, out):",
        "    q, W, i = np.empty(N), np.empty(36), 6 * int(s[12])", "    X, _, _ = seen(s, q, W)",
        "    u = X.R @ Vec3(W[i + 3], W[i + 4], W[i + 5])", "    out[0], out[1], out[2] = u.x, u.y, u.z",
        "    out[3], out[4], out[5], out[6] = W[i], W[i + 1], W[i + 2], 0.0",
    ]) + "\n"  # fmt: skip


# --- in Python --------------------------------------------------------------------------------------------------------


def columns_in_python(page: Any, q: np.ndarray, p: Sequence[float]) -> np.ndarray:
    """H (6, nv)."""
    f = plain_of(page.motion_subspace)
    values = {"q": float(q[0]) if page.nv == 1 else tuple(q.tolist()), **dict(zip(names_of(page), p, strict=True))}
    names = check_arguments(f"motion_subspace of {page.__name__}", f, GIVEN["motion_subspace"], names_of(page))
    try:
        found = f(*(values[name] for name in names))
        columns = (found,) if page.nv == 1 else tuple(found)
        H = np.array([[*column.w, *column.v] for column in columns], dtype=float).T
    except Exception as error:
        raise InputError(f"motion_subspace of {page.__name__} raises {type(error).__name__}: {error}") from error
    if H.shape != (6, page.nv):
        raise InputError(
            f"motion_subspace of {page.__name__} gives {H.shape[1]} columns; {page.nv} are needed, a Motion each"
        )
    return H


def _across(page: Any, n: int) -> tuple[tuple[int, ...], bool]:
    """Which unit forces, without H, say best what the joint locks; and whether the columns of H are at right angles."""
    rng = np.random.default_rng(2)
    found, square = [], True
    for _ in range(30):
        H = columns_in_python(page, sampled_q(page, rng), sampled(page, rng))
        gram = H.T @ H
        square = square and bool(np.abs(gram - np.diag(gram.diagonal())).max() < 1e-12 * max(1.0, gram.max()))
        Q, _ = np.linalg.qr(H)
        found.append(np.eye(6) - Q @ Q.T)
    if getattr(page, "constraint_subspace", None) is not None:
        return (), square
    best, axes = 0.0, tuple(range(6 - n))
    for chosen in itertools.combinations(range(6), 6 - n):
        least = min(np.linalg.svd(P[:, chosen], compute_uv=False)[-1] for P in found)
        if least > best:
            best, axes = float(least), chosen
    if best < LEAST:
        raise InputError(
            f"the page {page.__name__} has no constraint_subspace, and no {6 - n} of the six unit forces stay apart from its motion; "
            f"it needs a constraint_subspace(q) that gives {6 - n} of type Force, which do no work on motion_subspace, or narrower ranges"
        )
    return axes, square


def _lengths(page: Any, n: int, axes: Sequence[int]) -> tuple[bool, ...]:
    """Which rows are lengths: those whose forces are more than their moments."""
    if axes:
        return tuple(k >= 3 for k in axes)
    rng = np.random.default_rng(3)
    f, p = plain_of(page.constraint_subspace), sampled(page, rng)
    q = sampled_q(page, rng)
    values = {"q": float(q[0]) if n == 1 else tuple(q.tolist()), **dict(zip(names_of(page), p, strict=True))}
    names = check_arguments(f"constraint_subspace of {page.__name__}", f, GIVEN["constraint_subspace"], names_of(page))
    found = f(*(values[name] for name in names))
    forces = (found,) if n == MOST else tuple(found)
    if len(forces) != 6 - n:
        raise InputError(
            f"constraint_subspace of {page.__name__} gives {len(forces)} of type Force; {6 - n} are needed"
        )
    return tuple(bool(np.linalg.norm([*F.f]) >= np.linalg.norm([*F.n])) for F in forces)
