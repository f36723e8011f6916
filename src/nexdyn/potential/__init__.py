"""Incremental potential: every step is a minimum of inertia, potential energy and the energy of the constraints."""
