"""`python -m kinegate`: the command line."""

from kinegate.cli import main

main(prog_name="kinegate")
