"""`sandgate up|down|status|doctor|demo`: the installation on this machine."""

from typing import Annotated

import typer
from rich.console import Console

from orchestrator.cli.codes import Code, CommandFailed
from orchestrator.cli.harness import CHOICE, harness_of
from orchestrator.cli.place import JsonFlag, installation, runner
from orchestrator.cli.run import code_of
from orchestrator.cli.screen import print_json, print_table, say
from orchestrator.ports.sandboxes import STDIO
from orchestrator.settings import Environment
from orchestrator.stack.down import down as take_down
from orchestrator.stack.down import purge as take_away
from orchestrator.stack.harness_programs import NATIVE
from orchestrator.stack.installation import FILE
from orchestrator.stack.status import status_of
from orchestrator.stack.steps import Steps
from orchestrator.stack.up import bring_up
from orchestrator.stack.wiring import Wishes, address_of
from orchestrator.stack.wished import wished

console = Console()


def up(
    models: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            metavar="NAME=BASE_URL",
            help="A model provider; its secret has the same name. Kept until it is said anew. "
            "Before the URL may stand whose API it speaks: openai+https://...",
        ),
    ] = None,
    harnesses: Annotated[
        list[str] | None,
        typer.Option(
            "--harness",
            metavar="NAME",
            help=f"A harness that agents may run on: {CHOICE}. Kept; the native loop is always there.",
        ),
    ] = None,
    stdio_servers: Annotated[
        bool,
        typer.Option(
            "--stdio-servers",
            help="Have the sandbox for MCP servers that are run over stdio, with Node and uv. Kept.",
        ),
    ] = False,
) -> None:
    """Bring the installation up: whatever isn't there is made, whatever isn't running is started."""
    environment = Environment()
    wishes = Wishes(
        home=environment.home,
        docker_host=environment.docker_host,
        execd_image=environment.execd_image,
        harnesses=(*map(harness_of, harnesses or []), *([STDIO] if stdio_servers else [])),
        providers=dict(_provider(model) for model in models or []),
    )
    here = bring_up(wishes, Steps(console))
    console.print(f"[bold]{here.name}[/bold] is up at http://127.0.0.1:{here.ports.runner}")


def down(
    purge: Annotated[
        bool, typer.Option("--purge", help="Remove every trace of it too, data included.")
    ] = False,
) -> None:
    """Stop the installation and its sandboxes. `--purge` removes everything.

    Runs that are going on end as failed (sandbox_lost) with the next `up`; what they pushed stays.
    """
    home = Environment().home.resolve()
    if not (home / FILE).exists():
        say(console, f"{home} holds no installation: there is nothing to do")
        return
    here = installation()
    line = ""
    for line in take_away(here) if purge else take_down(here):
        say(console, line)
    if not line:
        say(console, "nothing of it was running")


def status(json: JsonFlag = False) -> None:
    """Say what of the installation runs."""
    here = installation()
    parts = status_of(here)
    if json:
        print_json([part.as_json() for part in parts])
    else:
        rows = [(part.name, "running" if part.alive else "down", part.where) for part in parts]
        print_table(console, ("part", "state", "where"), rows)
        loops = (NATIVE, *(name for name in wished(here) if name != STDIO))
        say(console, f"harnesses: {', '.join(loops)}")
        if any(part.name == "runner" and part.alive for part in parts):
            say(console, f"posture: {_posture()}")
    if not all(part.alive for part in parts):
        raise typer.Exit(Code.NOT_RUNNING)


def doctor(json: JsonFlag = False) -> None:
    """Check everything that runs rest on; the sandbox network's posture above all."""
    with runner() as api:
        checks = api.get("/api/doctor")
    if json:
        print_json(checks)
    else:
        rows = [("ok" if c["ok"] else "FAILED", c["check"], c["says"]) for c in checks]
        print_table(console, ("", "check", "says"), rows)
    if not all(check["ok"] for check in checks):
        raise typer.Exit(Code.FAILED)


def demo(
    harness: Annotated[
        str, typer.Option(metavar="NAME", help=f"The harness that does the work: {CHOICE}.")
    ] = "native",
    model: Annotated[
        str,
        typer.Option(
            metavar="PROVIDER:MODEL",
            help="The model, by name; a scripted one plays it. Each harness has a usual one.",
        ),
    ] = "",
    json: JsonFlag = False,
) -> None:
    """Run the whole story: a real bug in a real project is fixed by an agent in a sandbox."""
    # Imported here: the demo needs much that no other command does.
    from orchestrator.cli.demo import show_demo  # noqa: PLC0415

    name = harness_of(harness)
    raise typer.Exit(code_of(show_demo(console, harness=name, model=model, json=json)))


def _posture() -> str:
    """What the battery found last, in a line."""
    try:
        with runner() as api:
            told = api.get("/api/posture")
    except CommandFailed as error:
        return str(error)
    return str(told["closed"] or told["line"])


def _provider(text: str) -> tuple[str, str]:
    name, _, url = text.partition("=")
    if "@" in url:
        raise CommandFailed(
            f"--model {name}: a base URL carries no user or password: `sandgate secret set {name}`",
            Code.USAGE,
        )
    try:
        address_of(url if name else "")
    except ValueError as error:
        raise CommandFailed(
            f"--model {text}: write NAME=BASE_URL, e.g. anthropic=https://... "
            "or company=openai+https://...",
            Code.USAGE,
        ) from error
    return name, url
