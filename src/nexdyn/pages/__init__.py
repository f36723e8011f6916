"""Joints and forces from outside the package: a class says its equations, and ``nx.register`` makes it a page like those of the package.

    joint.py      JointPage;   motion.py: its functions as the kernels call them
    force.py      ForcePage, between two frames;   EffortPage, in a degree of freedom of a joint
    functions.py  functions of a page as C functions, which kernels call by address: no kernel is compiled anew
    numbers.py    the numbers of a page, by name, as arguments of its class
    checks.py     what is looked for when a page is registered: each function against differences of the others
    registering.py ``nx.register``

The value types that pages compute with: ``from nexdyn.pages import Force, Mat3, Motion, Pose, Vec3, cross, T``.
"""

from __future__ import annotations

from nexdyn.pages.force import EffortPage, ForcePage
from nexdyn.pages.joint import JointPage
from nexdyn.pages.registering import register
from nexdyn.spatial.algebra import Force, Mat3, Motion, Pose, T, Vec3, cross

__all__ = ["EffortPage", "Force", "ForcePage", "JointPage", "Mat3", "Motion", "Pose", "T", "Vec3", "cross", "register"]
