"""The motion in absolute coordinates: equations, HHT-α, index 1, and what is observed."""
