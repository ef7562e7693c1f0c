"""``python -m touchstone``."""

from touchstone.cli import run_main

run_main()
