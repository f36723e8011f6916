"""The algorithms of trees on their tables: kinematics, RNEA, ABA, CRBA, and where Python enters them."""
