"""How fast NexDyn is beside its peers, on this machine: `python -m benchmarks`."""
