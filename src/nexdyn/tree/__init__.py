"""Minimal coordinates: the algorithms of trees of bodies."""
