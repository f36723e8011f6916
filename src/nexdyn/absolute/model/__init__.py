"""From a system to absolute coordinates: rows, redundancy, and the analyses at one time."""
