"""The description of a mechanism: names, units and checks; no arrays of a compiled model, no motion."""
