"""``python -m argrank``."""

from argrank.cli import main

main()
