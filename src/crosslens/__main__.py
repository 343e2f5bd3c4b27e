"""``python -m crosslens`` is ``crosslens``."""

from crosslens.cli import main

main()
