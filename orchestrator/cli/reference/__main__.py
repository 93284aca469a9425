"""`python -m orchestrator.cli.reference`: make the reference pages; `--check`: see that they are current."""

import sys
from typing import Annotated

import typer
from rich.console import Console

from orchestrator.cli.reference.pages import differing, write

console = Console(highlight=False)


def main(
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit 1 on drift.")
    ] = False,
) -> None:
    """Make the reference pages from the code."""
    if not check:
        for name in write():
            console.print(f"made docs/reference/{name}")
        return
    stale = differing()
    for name in stale:
        console.print(f"docs/reference/{name} is not what the code says: run `make docs`")
    sys.exit(1 if stale else 0)


if __name__ == "__main__":
    typer.run(main)
