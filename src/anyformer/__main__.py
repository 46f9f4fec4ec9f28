"""`python -m anyformer` is the command `anyformer`."""

import sys

from anyformer.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
