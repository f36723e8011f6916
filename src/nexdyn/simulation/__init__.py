"""Motion in time: the contract of a march, its events, and one page a formulation."""
