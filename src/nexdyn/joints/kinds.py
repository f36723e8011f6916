"""The numbers by which kernels know a joint."""

import numpy as np

FIXED, REVOLUTE, PRISMATIC, HELICAL, CYLINDRICAL, UNIVERSAL, SPHERICAL, PLANAR, CARTESIAN, FREE, REGISTERED = range(11)

OF_PACKAGE, OF_ANY = np.int64, np.int32
"""How the numbers of joints are kept: by that kernels tell mechanisms with registered joints, and those without are compiled without."""
