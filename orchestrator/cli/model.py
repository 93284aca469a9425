"""`sandgate model`: a model that plays a scenario file, to try everything without a real one."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from orchestrator.cli.codes import Code, CommandFailed
from orchestrator.cli.files import read_text
from orchestrator.cli.screen import say
from orchestrator.stack.scripted import ScenarioError, parse
from orchestrator.stack.scripted import serve as serve_scenario

app = typer.Typer(no_args_is_help=True, help="The scripted model.")
console = Console()


@app.callback()
def group() -> None:
    """Keeps `serve` a command of its own, although it is the only one."""


@app.command()
def serve(
    script: Annotated[
        Path, typer.Option(metavar="FILE", help="The scenario (docs/reference/scenario-file.md).")
    ],
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")],
    host: Annotated[str, typer.Option(help="Where to listen.")] = "127.0.0.1",
    api_key_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Requests must show the key in this file."),
    ] = None,
) -> None:
    """Serve a scenario as a model, until interrupted."""
    text = read_text(script)
    key = read_text(api_key_file).strip() if api_key_file else None
    try:
        scenario = parse(text, source=str(script))
    except ScenarioError as error:
        raise CommandFailed(str(error), Code.REFUSED) from error
    serving = serve_scenario(scenario, port=port, host=host, api_key=key, on_ready=_announce)
    try:
        asyncio.run(serving)
    except OSError as error:
        raise CommandFailed(f"can't listen on {host}:{port}: {error}") from error
    except KeyboardInterrupt:
        console.print("stopped")


def _announce(host: str, port: int) -> None:
    say(console, f"scripted model on http://{host}:{port}")
