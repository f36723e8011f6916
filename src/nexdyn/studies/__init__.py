"""What many runs tell: sweeps, calibration, sensitivities, comparison."""
