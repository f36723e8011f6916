"""States and what can be said of them: equilibrium, linearisation, modes, stability, inverse dynamics and kinematics."""
