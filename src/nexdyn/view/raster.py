"""Pictures without a display: triangles to pixels, by kernels, so that neither a graphics library nor a driver is needed.

View     axes x right, y up, z backwards, R_VW, from the point e; f the focal length, (cu, cv) the middle [samples]
    near:      p_V = R_VW (p − e),  d = −p_V.z,   (u, v, w) = (cu + f p_V.x / d, cv − f p_V.y / d, 1 / d)
    from afar: (u, v, w) = (cu + f p_V.x, cv − f p_V.y, 1 + p_V.z / D)         the sun's, D more than any depth
    A plane in space is a plane in (u, v, w): w is linear between the corners of a triangle, and larger is nearer.
    What is linear in space is, times w, linear in a picture from near.
Cover    E_ab(p) = (b − a) × (p − a) has one sign for the three edges of a triangle inside it; E / area are the weights.
Light    sky ½ + ½ n·up, sun max(0, n·s) where nothing stands before it, a little from the camera, highlight (n·h)^32;
         all in linear intensities, of which the mean over a pixel's samples becomes sRGB (IEC 61966-2-1).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nexdyn.kernel import formula, kernel
from nexdyn.spatial.algebra import Mat3, T, Vec3, cross

UNLIT, SMOOTH, FLAT = 0, 1, 2
"""How a face is lit: in its colour as it is, by the normals of its corners, by its own normal."""

THRESHOLDS = (np.array([0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5]).reshape(4, 4) + 0.5) / 16.0
"""Ordered dither: a face of opacity a covers the samples whose threshold is below a."""


class View(NamedTuple):
    """Where a picture is taken from; `far` is D of a picture from afar, 0 of one from near."""

    R: Mat3
    eye: Vec3
    f: float
    cu: float
    cv: float
    far: float


class Stage(NamedTuple):
    """What stands about: a floor at height `level` along `up`, ruled in cells, fading beyond `size` about `middle`; the
    direction to the sun, and `bias`, the share of its depth by which a surface does not shade itself; the background's
    intensity above and below, and by which share of it a line of the floor is brighter; `inside`, the share of their colour in which
    surfaces are drawn that are seen from inside, where a section has opened bodies, or 0 to light them."""

    up: Vec3
    across: Vec3
    middle: Vec3
    level: float
    cell: float
    size: float
    sun: Vec3
    bias: float
    above: float
    below: float
    rule: float
    inside: float = 0.0


@formula
def vector(A, i):
    return Vec3(A[i, 0], A[i, 1], A[i, 2])


@formula
def matrix(A, k):
    R = A[k]
    return Mat3(R[0, 0], R[0, 1], R[0, 2], R[1, 0], R[1, 1], R[1, 2], R[2, 0], R[2, 1], R[2, 2])


@formula
def put(A, i, a):
    A[i, 0], A[i, 1], A[i, 2] = a.x, a.y, a.z


@formula
def length(a):
    return np.sqrt(a @ a)


# --- where ----------------------------------------------------------------------------------------------------------


@kernel
def place(vertices, normals, first, R_WS, p_WS, position, normal):
    """Vertices first[k] … first[k + 1] and normals of piece k in the world: p = p_WS + R_WS v, n = R_WS n."""
    for k in range(len(first) - 1):
        R, p = matrix(R_WS, k), vector(p_WS, k)
        for i in range(first[k], first[k + 1]):
            put(position, i, p + R @ vector(vertices, i))
            put(normal, i, R @ vector(normals, i))


@formula
def on_screen(view, p):
    """(u, v, w) of a point; w is 0 for what is behind a camera that is near."""
    p_V = view.R @ (p - view.eye)
    if view.far > 0.0:
        return Vec3(view.cu + view.f * p_V.x, view.cv - view.f * p_V.y, 1.0 + p_V.z / view.far)
    w = -1.0 / p_V.z if p_V.z < 0.0 else 0.0
    return Vec3(view.cu + view.f * p_V.x * w, view.cv - view.f * p_V.y * w, w)


@kernel
def project(position, view, screen):
    """(u, v, w) of all points."""
    for i in range(len(position)):
        put(screen, i, on_screen(view, vector(position, i)))


# --- what is seen ---------------------------------------------------------------------------------------------------


@formula
def edge(a, b, x, y):
    """(b − a) × (p − a) on the screen."""
    return (b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x)


@formula
def first_sample(x, count):
    """The first sample at or beyond x; samples stand at half-integers."""
    return max(0, int(np.ceil(min(max(x, -1.0), count + 1.0) - 0.5)))


@formula
def last_sample(x, count):
    return min(count - 1, int(np.floor(min(max(x, -1.0), count + 1.0) - 0.5)))


@kernel
def draw(screen, faces, opacity, thresholds, nearness, shown):
    """Of every sample keep the nearest face: its w in `nearness`, its number in `shown`, both (rows, columns)."""
    rows, columns = nearness.shape
    for k in range(len(faces)):
        a, b, c = vector(screen, faces[k, 0]), vector(screen, faces[k, 1]), vector(screen, faces[k, 2])
        area = edge(a, b, c.x, c.y)
        if not (a.z > 0.0 and b.z > 0.0 and c.z > 0.0 and abs(area) > 1e-12):
            continue
        left, right = first_sample(min(a.x, b.x, c.x), columns), last_sample(max(a.x, b.x, c.x), columns)
        top, bottom = first_sample(min(a.y, b.y, c.y), rows), last_sample(max(a.y, b.y, c.y), rows)
        for i in range(top, bottom + 1):
            for j in range(left, right + 1):
                wa = edge(b, c, j + 0.5, i + 0.5) / area
                wb = edge(c, a, j + 0.5, i + 0.5) / area
                wc = 1.0 - wa - wb
                if wa < 0.0 or wb < 0.0 or wc < 0.0:
                    continue
                w = wa * a.z + wb * b.z + wc * c.z
                if w > nearness[i, j] and opacity[k] > thresholds[i % 4, j % 4]:
                    nearness[i, j] = w
                    shown[i, j] = k


# --- how it is lit --------------------------------------------------------------------------------------------------

OFF = 2.5e-3
"""How far off a surface its light is looked up, as a part of the scene: two samples of the sun's picture. What the sun grazes would shade
itself in stripes."""


@formula
def lit_sample(shadows, i, j, w):
    return 1.0 if shadows[i, j] <= w else 0.0


@formula
def sunlit(shadows, view, stage, p):
    """The share of the sun at a point, by weight of the four samples of the sun's picture about it."""
    q = on_screen(view, p)
    u, v, w = q.x - 0.5, q.y - 0.5, q.z + stage.bias
    i, j = int(np.floor(v)), int(np.floor(u))
    if i < 0 or j < 0 or i + 1 >= shadows.shape[0] or j + 1 >= shadows.shape[1]:
        return 1.0
    s, t = u - j, v - i
    upper = (1.0 - s) * lit_sample(shadows, i, j, w) + s * lit_sample(shadows, i, j + 1, w)
    lower = (1.0 - s) * lit_sample(shadows, i + 1, j, w) + s * lit_sample(shadows, i + 1, j + 1, w)
    return (1.0 - t) * upper + t * lower


@formula
def ruled(x, cell, half):
    """1 on the lines x = k cell, 0 off them."""
    return 1.0 if abs(x / cell - np.floor(x / cell + 0.5)) * cell < half else 0.0


@formula
def floor_light(grey, eye, ray, stage, shadows, sun_view):
    """`grey` of the background as the floor that a ray meets changes it: by lines, and by the shadow of what moves."""
    down, above = ray @ stage.up, eye @ stage.up - stage.level
    if not (down < 0.0 < above):
        return grey
    p = eye + (-above / down) * ray
    r = p - stage.middle
    out = r - (r @ stage.up) * stage.up
    near = 1.0 - length(out) / (3.0 * stage.size)
    if near <= 0.0:
        return grey
    half = 0.0025 * stage.size
    line = max(ruled(p @ stage.across, stage.cell, half), ruled(p @ cross(stage.up, stage.across), stage.cell, half))
    shade = 1.0 - sunlit(shadows, sun_view, stage, p)
    return grey * (1.0 + stage.rule * near * near * line) * (1.0 - 0.38 * near * near * shade)


@formula
def surface_light(p, n, ray, stage, shadows, sun_view):
    """How bright a matt surface is at p, and how much shines on it; n its normal, of any length and sign."""
    to_eye = (-1.0 / length(ray)) * ray
    size = length(n)
    n = to_eye if size == 0.0 else (1.0 / size) * n
    if n @ to_eye < 0.0:  # the inside of a surface, or one whose faces are turned round
        n = -n
    sun = max(0.0, n @ stage.sun)
    if sun > 0.0:
        sun *= sunlit(shadows, sun_view, stage, p + (OFF * stage.size) * n)
    h = stage.sun + to_eye
    shine = max(0.0, (n @ h) / (length(h) + 1e-12))
    for _ in range(5):
        shine *= shine
    matt = 0.20 + 0.34 * (0.5 + 0.5 * (n @ stage.up)) + 0.62 * sun + 0.10 * (n @ to_eye)
    return matt, 0.12 * shine * min(1.0, 4.0 * sun)


@kernel
def light(shown, screen, faces, position, normal, colors, lighting, view, sun_view, stage, shadows, image):
    """The picture from what is `shown`: `image` (height, width, 3), each pixel the mean of its samples."""
    height, width, _ = image.shape
    many = shown.shape[0] // height
    R_WV = T(view.R)
    for row in range(height):
        for column in range(width):
            pixel: Any = Vec3(0.0, 0.0, 0.0)
            for sample in range(many * many):
                i, j = row * many + sample // many, column * many + sample % many
                ray = R_WV @ Vec3((j + 0.5 - view.cu) / view.f, (view.cv - i - 0.5) / view.f, -1.0)
                k = shown[i, j]
                if k < 0:
                    grey = stage.above + (stage.below - stage.above) * i / shown.shape[0]
                    grey = floor_light(grey, view.eye, ray, stage, shadows, sun_view)
                    pixel = pixel + Vec3(grey, grey, grey)
                    continue
                color = vector(colors, k)
                if lighting[k] == UNLIT:
                    pixel = pixel + color
                    continue
                A, B, C = faces[k, 0], faces[k, 1], faces[k, 2]
                a, b, c = vector(screen, A), vector(screen, B), vector(screen, C)
                if (
                    stage.inside > 0.0 and edge(a, b, c.x, c.y) > 0.0
                ):  # v points down: from outside corners turn the other way
                    pixel = pixel + stage.inside * color
                    continue
                # weights in space: those on the screen, times w
                wa = edge(b, c, j + 0.5, i + 0.5) * a.z
                wb = edge(c, a, j + 0.5, i + 0.5) * b.z
                wc = edge(a, b, j + 0.5, i + 0.5) * c.z
                wa, wb, wc = wa / (wa + wb + wc), wb / (wa + wb + wc), wc / (wa + wb + wc)
                p_A, p_B, p_C = vector(position, A), vector(position, B), vector(position, C)
                p = wa * p_A + wb * p_B + wc * p_C
                if lighting[k] == SMOOTH:
                    n = wa * vector(normal, A) + wb * vector(normal, B) + wc * vector(normal, C)
                else:
                    n = cross(p_B - p_A, p_C - p_A)
                matt, shine = surface_light(p, n, ray, stage, shadows, sun_view)
                pixel = pixel + matt * color + Vec3(shine, shine, shine)
            pixel = (1.0 / (many * many)) * pixel
            image[row, column, 0], image[row, column, 1], image[row, column, 2] = pixel.x, pixel.y, pixel.z


# --- colours --------------------------------------------------------------------------------------------------------


def linear(color: np.ndarray) -> np.ndarray:
    """Intensities of sRGB components, 0 … 1."""
    c = np.asarray(color, dtype=float)
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


_STEPS = 4096
_INTENSITY = np.arange(_STEPS + 1) / _STEPS
_SRGB = np.where(_INTENSITY <= 0.0031308, 12.92 * _INTENSITY, 1.055 * _INTENSITY ** (1 / 2.4) - 0.055)
_BYTES = np.round(255.0 * _SRGB).astype(np.uint8)


def srgb(image: np.ndarray) -> np.ndarray:
    """Bytes of sRGB of intensities."""
    return _BYTES[(np.clip(image, 0.0, 1.0) * _STEPS + 0.5).astype(np.int32)]
