"""Which installation a command speaks to: the one at SANDGATE_HOME, `.sandgate/` by default."""

from typing import Annotated

import typer

from orchestrator.cli.client import Runner
from orchestrator.cli.codes import Code, CommandFailed
from orchestrator.settings import Environment
from orchestrator.stack.installation import FILE, Installation
from orchestrator.stack.steps import StepFailed

JsonFlag = Annotated[bool, typer.Option("--json", help="JSON on stdout, for programs.")]


def installation() -> Installation:
    """The installation that is there.

    Raises: CommandFailed when there is none; StepFailed when it can't be read or was moved.
    """
    home = Environment().home
    try:
        return Installation.open(home, create=False)
    except StepFailed as error:
        if (home / FILE).exists():
            raise
        raise CommandFailed(str(error), Code.NOT_RUNNING) from error


def runner() -> Runner:
    """The installation's runner; to be used in a `with`."""
    here = installation()
    return Runner(f"http://127.0.0.1:{here.ports.runner}", here.keys / "api.token")
