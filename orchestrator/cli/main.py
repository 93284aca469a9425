"""Puts the commands together; every failure that is meant for people ends as one sentence."""

import sys
from collections.abc import Sequence
from subprocess import SubprocessError

import aiohttp
import typer
from docker.errors import DockerException
from rich.console import Console

from entrance.errors import SandgateError
from orchestrator.cli import (
    approvals,
    attested,
    frozen,
    machine,
    model,
    models,
    policy,
    posture,
    push,
    run,
    secret,
    task,
    team,
)
from orchestrator.cli.codes import Code, CommandFailed
from orchestrator.cli.egress import commands as egress
from orchestrator.cli.screen import say
from orchestrator.stack.steps import StepFailed

app = typer.Typer(
    name="sandgate",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    help="Runs coding agents on tasks, each run in a sandbox that holds no secret and has two doors.",
)
app.command()(machine.up)
app.command()(machine.down)
app.command()(machine.status)
app.command()(machine.doctor)
app.command()(machine.demo)
app.add_typer(team.agents, name="agent")
app.command()(team.hire)
app.add_typer(task.app, name="task")
app.add_typer(run.app, name="run")
app.add_typer(frozen.app, name="frozen")
app.add_typer(secret.app, name="secret")
app.add_typer(posture.app, name="posture")
app.add_typer(model.app, name="model")
app.command()(models.models)
app.add_typer(approvals.app, name="approvals")
app.add_typer(push.app, name="push")
app.add_typer(policy.app, name="policy")
app.add_typer(egress.app, name="egress")
app.command()(attested.verify)


STOPPED = "stopped; what was begun goes on by itself: `sandgate status`"
CODES: dict[type[Exception], Code] = {
    StepFailed: Code.SETUP,
    DockerException: Code.SETUP,
    SandgateError: Code.FAILED,
    OSError: Code.FAILED,
    SubprocessError: Code.FAILED,
    aiohttp.ClientError: Code.FAILED,
}
"""What may go wrong on a machine. Anything else is a bug of ours, and shows its traceback."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line, and exit with a code of `codes`."""
    try:
        app(arguments)
    except SystemExit as error:  # also Ctrl-C, which typer has made one of
        if error.code == Code.INTERRUPTED:
            _say(STOPPED)
        raise
    except KeyboardInterrupt:
        _end(STOPPED, Code.INTERRUPTED)
    except CommandFailed as error:
        _end(str(error), error.code)
    except tuple(CODES) as error:
        _end(_sentence(error), next(c for kind, c in CODES.items() if isinstance(error, kind)))


def _sentence(error: Exception) -> str:
    match error:
        case OSError(filename=str(file)):
            return f"{file}: {error.strerror or error}"
        case OSError() | SubprocessError() | aiohttp.ClientError():
            return f"this machine refused: {error}"
        case DockerException():
            return f"the Docker engine did not do it: {error}"
        case _:
            return str(error)


def _end(sentence: str, code: Code) -> None:
    _say(sentence)
    sys.exit(code)


def _say(sentence: str) -> None:
    say(Console(stderr=True), sentence, style="red")
