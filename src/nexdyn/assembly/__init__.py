"""Putting mechanisms together: assembly, redundancy, what is said of the start, loads of a state."""
