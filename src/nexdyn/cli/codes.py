"""Exit codes.

0  done                            2    bad input: nothing was simulated, nothing written
1  a fault of the program or       3    no solution; what was reached until then is kept
   of the machine (disk full)      130  Ctrl-C; what was reached until then is kept
                                   141  nobody reads stdout any more (`nexdyn info robot.urdf | head -1`)
"""

DONE, FAULT, BAD_INPUT, NO_SOLUTION, INTERRUPTED, NO_READER = 0, 1, 2, 3, 130, 141
