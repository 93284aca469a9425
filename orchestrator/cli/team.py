"""`sandgate agent|hire`: a team."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml
from rich.console import Console

from orchestrator.cli.codes import Code, CommandFailed
from orchestrator.cli.files import read_text
from orchestrator.cli.harness import CHOICE, harness_of
from orchestrator.cli.place import JsonFlag, installation, runner
from orchestrator.cli.repositories import FORM, named
from orchestrator.cli.screen import tell, tell_each
from orchestrator.stack.harness_programs import NATIVE
from orchestrator.stack.wished import wished

agents = typer.Typer(no_args_is_help=True, help="Agents of the pool.")
console = Console()
BESIDE_TOOLS = ("prompts", "resources", "asks")

EgressOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="A file that says in YAML what of the internet it may reach."
    ),
]


@agents.command("create")
def create_agent(
    name: Annotated[str, typer.Argument(help="Its name; its bot user is `bot-NAME`.")],
    model: Annotated[
        str,
        typer.Option(
            metavar="PROVIDER:MODEL", help="The model, such as `anthropic:claude-sonnet-5`."
        ),
    ],
    harness: Annotated[
        str, typer.Option(metavar="NAME", help=f"The loop that runs it: {CHOICE}.")
    ] = "native",
    title: Annotated[str, typer.Option(help="How people call it.")] = "",
    instructions: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A file with its instructions.")
    ] = None,
    egress: EgressOption = None,
    json: JsonFlag = False,
) -> None:
    """Create an agent in the Agent Pool, with a bot user of its own (or update it)."""
    loop = harness_of(harness)
    body = {
        "name": name,
        "title": title,
        "model": model,
        "harness": loop,
        "instructions": read_text(instructions) if instructions else "",
        "egress": read_text(egress) if egress else None,
    }
    made = _post("/api/agents", body)
    sentences = [f"{made['id']}: {name} acts as {made['bot']}"]
    if loop not in (NATIVE, *wished(installation())):
        sentences.append(f"no sandbox here holds {loop} yet: `sandgate up --harness {loop}`")
    tell(console, made, *sentences, json=json)


def hire(
    agent: Annotated[str, typer.Argument(help="The agent's name.")],
    project: Annotated[str, typer.Option(help="The project; made when it isn't there.")],
    supervisor: Annotated[str, typer.Option(help="The user who answers and approves.")],
    budget: Annotated[str, typer.Option(metavar="USD", help="US dollars for all its runs.")],
    repo: Annotated[
        list[str] | None,
        typer.Option(help=f"A repository it may work in: {FORM}."),
    ] = None,
    read: Annotated[
        list[str] | None,
        typer.Option(help=f"A repository it may only fetch: {FORM}."),
    ] = None,
    tools: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A file that says in YAML, by connection, which tools it may call, and how.",
        ),
    ] = None,
    egress: EgressOption = None,
    pushes: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="A file that says in YAML what is asked of its pushes besides."
        ),
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
            *(one.granted(push=True) for one in working),
            *(one.granted(push=False) for one in reading),
        ],
        "tools": _yaml(tools) if tools else None,
        "egress": read_text(egress) if egress else None,
        "pushes": read_text(pushes) if pushes else None,
    }
    made = _post("/api/engagements", body)
    served = [one.served for one in (*working, *reading) if one.served]
    tell(console, made, *_hired(made, agent, project), *served, json=json)


def _hired(made: Mapping[str, Any], agent: str, project: str) -> Iterator[str]:
    yield f"{made['id']}: {agent} is hired into {project}"
    if rules := made.get("standing"):
        yield (
            f"what people have allowed it for longer is in force: {', '.join(rules)}; "
            "`sandgate approvals rules`, `revoke`"
        )


@agents.command("hired")
def hired(json: JsonFlag = False) -> None:
    """List who is hired where, which tools they may call, how, and what else is granted at a connection."""
    with runner() as api:
        found = api.get("/api/engagements")
    columns = ("agent", "project", "supervisor", "budget", "spent", "tools")
    tell_each(console, found, columns, _hired_row, spare=("spent", "budget"), json=json)


def _hired_row(one: Mapping[str, Any]) -> Sequence[object]:
    tools = "; ".join(f"{name}: {_in_words(said)}" for name, said in one["tools"].items())
    who = (one["agent"], one["project"], one["supervisor"])
    return *who, one["budget_usd"], one["spent_usd"], tools


def _in_words(said: list[str] | Mapping[str, Any]) -> str:
    if isinstance(said, list):
        return ", ".join(said)
    named = [
        f"{name} ({rule if isinstance(rule, str) else rule['mode'] + ', bounded'})"
        for name, rule in said["tools"].items()
    ]
    more = [f"{name}: {' '.join(said[name])}" for name in BESIDE_TOOLS if name in said]
    return ", ".join([*named, f"others: {said['others']}", *more])


def _yaml(file: Path) -> object:
    try:
        return yaml.safe_load(read_text(file))
    except yaml.YAMLError as error:
        raise CommandFailed(f"{file} is no YAML: {error}", Code.USAGE) from error


def _post(path: str, body: Mapping[str, object]) -> dict[str, Any]:
    with runner() as api:
        made: dict[str, Any] = api.post(path, body)
    return made
