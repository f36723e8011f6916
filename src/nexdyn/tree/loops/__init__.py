"""Trees with constraint rows: loops that were cut, drivers, couplings, rolling."""
