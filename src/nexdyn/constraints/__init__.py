"""Constraint primitives between two frames: one primitive, one page."""
