"""`sandgate task`: the work that is given to agents."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.console import Console

from orchestrator.cli.client import task_path
from orchestrator.cli.files import text_of
from orchestrator.cli.place import JsonFlag, runner
from orchestrator.cli.repositories import named
from orchestrator.cli.screen import print_json, say, size, tell, tell_each
from orchestrator.cli.task_page import newest_run, show_task

app = typer.Typer(no_args_is_help=True, help="Tasks.")
console = Console()

TaskArgument = Annotated[str, typer.Argument(help="The task's id, such as WEB/WEB-2.")]
CommentOption = Annotated[str, typer.Option(help="Your words, or `@FILE` to read them.")]
WordsOption = Annotated[
    str, typer.Option("--comment", help="Your words to the agent, or `@FILE` to read them.")
]
UserOption = Annotated[
    str, typer.Option("--as", metavar="USER", help="Who decides; the supervisor, if not said.")
]


@app.command("create")
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
    repository = named(repo) if repo else None
    body = {
        "project": project,
        "title": title,
        "description": text_of(description),
        "repository": repository.url if repository else "",
        "base_branch": base,
        "assign": assign,
    }
    with runner() as api:
        made = api.post("/api/tasks", body)
    served = [repository.served] if repository and repository.served else []
    hint = f"{made['id']}: watch it with `sandgate run watch {made['id']}`"
    tell(console, made, hint, *served, json=json)


@app.command("ls")
def listing(
    json: JsonFlag = False,
    done: Annotated[bool, typer.Option("--all", help="Those that are done, too.")] = False,
) -> None:
    """List the tasks that agents have or had, and what each waits for."""
    with runner() as api:
        found = api.get(f"/api/tasks{'?done=1' if done else ''}")
    columns = ("task", "status", "agent", "newest run", "waits for", "title", "disk")
    tell_each(console, found, columns, _row, spare=("disk", "title", "agent"), json=json)


@app.command()
def show(task: TaskArgument, json: JsonFlag = False) -> None:
    """Show a task: what it says, what was said about it, its runs, and what it waits for."""
    with runner() as api:
        found = api.get(task_path(task))
    if json:
        print_json(found)
    else:
        show_task(console, found)


@app.command()
def approve(task: TaskArgument, comment: CommentOption = "", user: UserOption = "") -> None:
    """Approve a task that is in review: it is done then."""
    _decide(task, "approve", comment, user)


@app.command("send-back")
def send_back(task: TaskArgument, comment: WordsOption, user: UserOption = "") -> None:
    """Send a task back that is in review: its agent goes on, with your words."""
    _decide(task, "send-back", comment, user)


@app.command()
def answer(task: TaskArgument, comment: WordsOption, user: UserOption = "") -> None:
    """Answer what an agent asked: it goes on, with your words."""
    _decide(task, "answer", comment, user)


@app.command()
def retry(task: TaskArgument, comment: CommentOption = "", user: UserOption = "") -> None:
    """Have a task that failed tried again."""
    _decide(task, "retry", comment, user)


def _decide(task: str, decision: str, comment: str, user: str) -> None:
    body = {"comment": text_of(comment), "as": user}
    with runner() as api:
        done = api.post(f"{task_path(task)}/{decision}", body)
    by = done["by"]
    say(console, f"{task}: {decision.replace('-', ' ')}, as {by}")
    if not done["in_person"]:
        say(
            console,
            f"Polarion shows it as Sandgate's, in {by}'s name: `sandgate secret set polarion.{by}"
            " --kind polarion --host ...` with a token of theirs makes it theirs",
            style="yellow",
        )


def _row(task: Mapping[str, Any]) -> tuple[object, ...]:
    disk = task["disk_bytes"]
    return (
        task["id"],
        task["status"],
        task["agent"],
        newest_run(task["run"]),
        task["waits_for"],
        task["title"],
        "" if disk is None else size(disk),
    )


@app.command()
def purge(task: TaskArgument, json: JsonFlag = False) -> None:
    """Remove a task's disk now: its work that was not pushed, and its conversations."""
    with runner() as api:
        gone = api.delete(f"{task_path(task)}/disk")
    tell(
        console,
        gone,
        f"the disk of {task} is removed: {size(gone['freed_bytes'])} freed",
        json=json,
    )
