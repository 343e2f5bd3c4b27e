"""``python -m crosslens`` is ``crosslens``."""

import sys

try:
    from crosslens.cli import main

    main()
except KeyboardInterrupt:  # before the command line takes care of it
    sys.exit("Aborted!")
