"""``crosslens`` and ``python -m crosslens``."""

import sys


def main() -> None:
    """Run the command line; an interrupt while it is imported is one line, too."""
    try:
        from crosslens.heap import collect_rarely

        collect_rarely()
        from crosslens.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.exit("Aborted!")


if __name__ == "__main__":
    main()
