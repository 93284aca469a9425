"""Puts the commands together; every failure that is meant for people ends as one sentence."""

import sys

import typer
from rich.console import Console
from rich.markup import escape

from orchestrator.cli import machine, model, run, team
from orchestrator.cli.codes import Code, CommandFailed
from orchestrator.stack.steps import StepFailed

app = typer.Typer(
    name="sandgate",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    help="Runs coding agents on tasks, each run in a sandbox that holds no secret and has one door.",
)
app.command()(machine.up)
app.command()(machine.down)
app.command()(machine.status)
app.command()(machine.doctor)
app.command()(machine.demo)
app.add_typer(team.agents, name="agent")
app.command()(team.hire)
app.add_typer(team.tasks, name="task")
app.add_typer(run.app, name="run")
app.add_typer(team.secrets, name="secret")
app.add_typer(model.app, name="model")


def main() -> None:
    """Run the command line."""
    try:
        app()
    except CommandFailed as error:
        _end(str(error), error.code)
    except StepFailed as error:
        _end(str(error), Code.SETUP)
    except KeyboardInterrupt:
        _end("stopped; what was begun goes on by itself: `sandgate status`", Code.FAILED)


def _end(sentence: str, code: Code) -> None:
    Console(stderr=True).print(f"[red]{escape(sentence)}[/red]", soft_wrap=True, highlight=False)
    sys.exit(code)
