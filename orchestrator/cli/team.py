"""`sandgate agent|hire|task`: a team and its work."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from orchestrator.cli.files import read_text
from orchestrator.cli.place import JsonFlag, runner
from orchestrator.cli.repositories import Named, named
from orchestrator.cli.screen import print_json, say

agents = typer.Typer(no_args_is_help=True, help="Agents of the pool.")
tasks = typer.Typer(no_args_is_help=True, help="Tasks.")
console = Console()


@agents.command("create")
def create_agent(
    name: Annotated[str, typer.Argument(help="Its name; its bot user is `bot-NAME`.")],
    model: Annotated[
        str,
        typer.Option(
            metavar="PROVIDER:MODEL", help="The model, such as `anthropic:claude-sonnet-5`."
        ),
    ],
    harness: Annotated[str, typer.Option(help="The loop that runs it.")] = "native",
    title: Annotated[str, typer.Option(help="How people call it.")] = "",
    instructions: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A file with its instructions.")
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Create an agent in the Agent Pool, with a bot user of its own (or update it)."""
    body = {
        "name": name,
        "title": title,
        "model": model,
        "harness": harness,
        "instructions": read_text(instructions) if instructions else "",
    }
    made = _post("/api/agents", body)
    _say(made, f"{made['id']}: {name} acts as {made['bot']}", json=json)


def hire(
    agent: Annotated[str, typer.Argument(help="The agent's name.")],
    project: Annotated[str, typer.Option(help="The project; made when it isn't there.")],
    supervisor: Annotated[str, typer.Option(help="The user who answers and approves.")],
    budget: Annotated[str, typer.Option(metavar="USD", help="US dollars for all its runs.")],
    repo: Annotated[
        list[str] | None,
        typer.Option(help="A repository it may work in: `URL`, `URL=SECRET`, or a local path."),
    ] = None,
    read: Annotated[
        list[str] | None,
        typer.Option(help="A repository it may only fetch: `URL`, `URL=SECRET`, or a local path."),
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Hire an agent into a project: budget, supervisor, grants (or update its engagement)."""
    working, reading = [named(text) for text in repo or []], [named(text) for text in read or []]
    body = {
        "agent": agent,
        "project": project,
        "supervisor": supervisor,
        "budget_usd": budget,
        "repositories": [
            *(_repository(one, push=True) for one in working),
            *(_repository(one, push=False) for one in reading),
        ],
    }
    made = _post("/api/engagements", body)
    served = [one.served for one in (*working, *reading) if one.served]
    _say(made, f"{made['id']}: {agent} is hired into {project}", *served, json=json)


@tasks.command("create")
def create_task(
    project: Annotated[str, typer.Option(help="The project.")],
    title: Annotated[str, typer.Option(help="What is to be done, in a line.")],
    description: Annotated[str, typer.Option(help="Text, or `@FILE` to read it from a file.")] = "",
    repo: Annotated[str, typer.Option(help="The repository: its URL, or a local path.")] = "",
    base: Annotated[str, typer.Option(metavar="BRANCH", help="The branch to start from.")] = "main",
    assign: Annotated[
        str | None, typer.Option(metavar="AGENT", help="The agent; assigning starts the run.")
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Create a task; assigned to a hired agent, it is run."""
    text = read_text(Path(description[1:])) if description.startswith("@") else description
    repository = named(repo) if repo else None
    body = {
        "project": project,
        "title": title,
        "description": text,
        "repository": repository.url if repository else "",
        "base_branch": base,
        "assign": assign,
    }
    made = _post("/api/tasks", body)
    served = [repository.served] if repository and repository.served else []
    hint = f"{made['id']}: watch it with `sandgate run watch {made['id']}`"
    _say(made, hint, *served, json=json)


def _repository(found: Named, *, push: bool) -> dict[str, object]:
    return {"url": found.url, "push": push, "credential": found.credential}


def _post(path: str, body: Mapping[str, object]) -> dict[str, str]:
    with runner() as api:
        made: dict[str, str] = api.post(path, body)
    return made


def _say(made: dict[str, str], *sentences: str, json: bool) -> None:
    if json:
        print_json(made)
        return
    for sentence in sentences:
        say(console, sentence)
