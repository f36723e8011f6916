"""Fixed joint: the two frames coincide.

R = 1,  p = 0;   H has no column,  W = 1₆
"""

from __future__ import annotations

from nexdyn.joints import kinds
from nexdyn.kernel import formula
from nexdyn.model.joint import Joint
from nexdyn.spatial.algebra import Force, Vec3


class Fixed(Joint):
    """Welds the child to the parent. No degree of freedom."""

    kind, code, nq, nv = "fixed", kinds.FIXED, 0, 0
    about_z = True
    rows = (("DX", 1), ("DY", 1), ("DZ", 1), ("DotZX", 0), ("DotZY", 0), ("DotXY", 0))
    urdf = "fixed"


@formula
def constraint_subspace(W):
    W[0] = Force(Vec3(1.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))
    W[1] = Force(Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 0.0))
    W[2] = Force(Vec3(0.0, 0.0, 1.0), Vec3(0.0, 0.0, 0.0))
    W[3] = Force(Vec3(0.0, 0.0, 0.0), Vec3(1.0, 0.0, 0.0))
    W[4] = Force(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0))
    W[5] = Force(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 1.0))
