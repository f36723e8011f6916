"""`python -m nexdyn` is `nexdyn`."""

import sys

from nexdyn.cli import main

if __name__ == "__main__":
    sys.exit(main())
