"""The constraint force algorithm."""
