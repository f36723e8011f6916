"""Cases of other programs' own test suites, with the curves that those programs computed."""
