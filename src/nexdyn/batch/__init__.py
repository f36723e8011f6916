"""Many members in one run, in lanes or side by side."""
