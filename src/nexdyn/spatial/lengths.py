"""Units of length that a mesh file may be written in."""

UNITS = {"m": 1.0, "cm": 0.01, "mm": 1e-3, "um": 1e-6, "in": 0.0254, "ft": 0.3048}
"""Metres of each."""
