"""``python -m argrank``."""

import sys


def main() -> None:
    """Run the command line; Ctrl-C while it is being loaded ends it as Ctrl-C ends a command."""
    try:
        from argrank.cli import main as run

        run()
    except KeyboardInterrupt:
        if sys.stderr is not None:
            sys.stderr.write("argrank: interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
