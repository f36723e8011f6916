"""Writing into the blocks of the Hessian: rows of 8 numbers of which a body takes 6."""

from __future__ import annotations

from nexdyn.kernel import formula
from nexdyn.linalg.rows import WIDTH, load, store


@formula
def add_matrix(blocks, place, M):
    """Add the 3×3 M at the entry `place`."""
    blocks[place] += M.xx
    blocks[place + 1] += M.xy
    blocks[place + 2] += M.xz
    blocks[place + WIDTH] += M.yx
    blocks[place + WIDTH + 1] += M.yy
    blocks[place + WIDTH + 2] += M.yz
    blocks[place + 2 * WIDTH] += M.zx
    blocks[place + 2 * WIDTH + 1] += M.zy
    blocks[place + 2 * WIDTH + 2] += M.zz


@formula
def add_upper(blocks, place, S):
    """Add the symmetric S at the entry `place` of a diagonal block, of which the upper part is read."""
    blocks[place] += S.xx
    blocks[place + 1] += S.xy
    blocks[place + 2] += S.xz
    blocks[place + WIDTH + 1] += S.yy
    blocks[place + WIDTH + 2] += S.yz
    blocks[place + 2 * WIDTH + 2] += S.zz


@formula
def add_products(blocks, place, J, first, rows, left, right, weight):
    """Add Σ_r weight_r l_r r_rᵀ over the rows r of J (…, 16), l_r from column `left` on and r_r from column `right` on."""
    flat = J.reshape(-1)
    r0, r1, r2 = load(blocks, place), load(blocks, place + 8), load(blocks, place + 16)
    r3, r4, r5 = load(blocks, place + 24), load(blocks, place + 32), load(blocks, place + 40)
    for r in range(first, first + rows):
        l, x = 16 * r + left, weight[r] * load(flat, 16 * r + right)
        r0 = r0 + flat[l] * x
        r1 = r1 + flat[l + 1] * x
        r2 = r2 + flat[l + 2] * x
        r3 = r3 + flat[l + 3] * x
        r4 = r4 + flat[l + 4] * x
        r5 = r5 + flat[l + 5] * x
    store(blocks, place, r0)
    store(blocks, place + 8, r1)
    store(blocks, place + 16, r2)
    store(blocks, place + 24, r3)
    store(blocks, place + 32, r4)
    store(blocks, place + 40, r5)


@formula
def add_outer(blocks, place, J, r, left, right, s):
    """Add s l rᵀ of row r of J, l from column `left` on and r from column `right` on."""
    flat = J.reshape(-1)
    row = load(flat, 16 * r + right)
    for k in range(6):
        at = place + WIDTH * k
        store(blocks, at, load(blocks, at) + (s * J[r, left + k]) * row)


@formula
def add_second_entry(blocks, diagonal, a, b, place, turned, i, j, h):
    """Add h to the entry (i, j), i ≤ j, of a symmetric 12×12 for x of the bodies a and b."""
    if j < 6:
        if a != 0:
            blocks[diagonal[a] + WIDTH * i + j] += h
    elif i >= 6:
        if b != 0:
            blocks[diagonal[b] + WIDTH * (i - 6) + j - 6] += h
    elif place >= 0:
        if turned == 1:
            blocks[place + WIDTH * (j - 6) + i] += h
        else:
            blocks[place + WIDTH * i + j - 6] += h
