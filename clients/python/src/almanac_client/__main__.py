"""`python -m almanac_client` runs the command line."""

import sys

from almanac_client._cli import main

if __name__ == "__main__":
    sys.exit(main())
