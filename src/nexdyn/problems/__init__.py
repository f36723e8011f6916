"""Published problems, one a page, with the values that others found; `nx.verify` runs them under every formulation."""
