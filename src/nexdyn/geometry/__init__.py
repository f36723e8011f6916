"""Shapes and the distances between them. Knows no mechanics: arrays and kernels, one page a shape."""
