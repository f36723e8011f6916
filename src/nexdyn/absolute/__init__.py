"""Absolute coordinates: every body on its own, joints as constraints."""
