"""The numbers by which kernels know a joint."""

import numpy as np

FIXED, REVOLUTE, PRISMATIC, HELICAL, CYLINDRICAL, UNIVERSAL, SPHERICAL, PLANAR, CARTESIAN, FREE, REGISTERED = range(11)

REVERSED = 16
"""Added to the number of a joint that is described from a body to the ground, of what a tree carries along X_J⁻¹."""

OF_PACKAGE, OF_ANY = np.int64, np.int32
"""How the numbers of joints are kept: by that kernels tell mechanisms with registered or
reversed joints, and those without are compiled without."""
