"""One page a formulation, each on the contract of ``simulation.march``."""
