"""``python -m argrank``."""

import sys


def main() -> None:
    """Run the command line; Ctrl-C during its imports has the same exit code as Ctrl-C during a command."""
    try:
        from argrank.cli import main as run

        run()
    except KeyboardInterrupt:
        if sys.stderr is not None:
            sys.stderr.write("argrank: interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
