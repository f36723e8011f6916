"""Sine and cosine together, by polynomials: for scalars and in lanes, without leaving registers.

    n = [2x/π],   r = x − n π/2, |r| ≤ π/4,   z = r²
    sin r = r + r z S(z),   cos r = 1 − z/2 + z² C(z);   the quarter n mod 4 says which of them, and the signs

S and C are of least greatest error (Remez), 4e-18 of sin r and 5e-20 of cos r. π/2 = P₁ + P₂ + P₃ (Cody & Waite 1980): the
products of n with P₁ and P₂, of 33 bits, are exact, and what x − n P₁ − n P₂ rounds off is carried to the third step.
Up to |x| = 1e5 the results are within 2 units in the last place; beyond, and where x is not finite, the C library's.
"""

from __future__ import annotations

from nexdyn.kernel import inlined
from nexdyn.spatial.lanes import ROUNDING, all_less, cos, if_less, in_quarter, sin

FAR = 1e5
P_1, P_2, P_3 = 1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21
S = (-0.1666666666666663, 0.008333333333322108, -0.0001984126982958018, 2.7557313618021934e-06,
     -2.5050747218850317e-08, 1.5896197670395253e-10)  # fmt: skip
C = (0.0416666666666666, -0.0013888888888874125, 2.4801587289482194e-05, -2.755731435233519e-07,
     2.087572327350336e-09, -1.1359647815871509e-11)  # fmt: skip


@inlined
def sincos(x):
    """(sin x, cos x)."""
    # n = [2x/π]: a sum with ROUNDING is a whole number
    rounded = x * 0.6366197723675814 + ROUNDING
    n = rounded - ROUNDING
    # r = x − n π/2
    r_1 = x - n * P_1
    r_2 = r_1 - n * P_2
    r = r_2 - (n * P_3 - ((r_1 - r_2) - n * P_2))
    z = r * r
    s = r + r * (z * (S[0] + z * (S[1] + z * (S[2] + z * (S[3] + z * (S[4] + z * S[5]))))))
    h = 0.5 * z
    w = 1.0 - h
    c = w + (((1.0 - w) - h) + z * z * (C[0] + z * (C[1] + z * (C[2] + z * (C[3] + z * (C[4] + z * C[5]))))))
    s, c = in_quarter(rounded, s, c)
    if all_less(abs(x), FAR):
        return s, c
    return if_less(abs(x), FAR, s, sin(x)), if_less(abs(x), FAR, c, cos(x))
