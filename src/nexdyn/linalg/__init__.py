"""Linear algebra of mechanisms: block elimination along a graph."""
