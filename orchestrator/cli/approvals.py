"""`sandgate approvals`: what agents want that a person has to decide."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from json import loads
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from orchestrator.cli import held_call, inbox_watch, item_page
from orchestrator.cli.changed_tool import print_changes
from orchestrator.cli.client import Runner, segment
from orchestrator.cli.codes import Code, CommandFailed
from orchestrator.cli.files import read_text, text_of
from orchestrator.cli.held_push import DiffOption, LinesOption, preview_of, print_preview
from orchestrator.cli.place import JsonFlag, runner
from orchestrator.cli.screen import one_line, print_json, print_table, say, tell_each
from orchestrator.domain.approval import OPEN
from orchestrator.domain.kinds import CALL, CALL_RULE, PUSH, TOOL, TOOL_CHANGE

app = typer.Typer(no_args_is_help=True, help="What agents want that a person has to decide.")
console = Console()

ItemArgument = Annotated[str, typer.Argument(metavar="ID", help="The item's id.")]
NoteOption = Annotated[
    str, typer.Option("--note", help="Your words to the agent, or `@FILE` to read them.")
]
UserOption = Annotated[
    str, typer.Option("--as", metavar="USER", help="Who decides; the supervisor, if not said.")
]
ArgumentsOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Of a tool call: other arguments than the agent's, in JSON."),
]
BoundsOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Of a rule for tool calls: a JSON Schema that arguments have to fit; else these very ones.",
    ),
]
ModeOption = Annotated[
    str,
    typer.Option(
        metavar="MODE", help="Of a tool: read, write (if not said), or approval each time."
    ),
]
YesOption = Annotated[
    bool, typer.Option("--yes", help="Even if the rule allows what a person has denied.")
]
_ALLOWED_AT_ONCE = frozenset({PUSH, CALL, TOOL_CHANGE})
"""Kinds of which there is one way only to allow them."""
COLUMNS = ("id", "state", "agent", "wants", "why", "task", "asked")


@app.command("ls")
def listing(
    json: JsonFlag = False,
    every: Annotated[bool, typer.Option("--all", help="Those that are decided, too.")] = False,
) -> None:
    """List what waits to be decided, newest first."""
    with runner() as api:
        found = api.get(f"/api/approvals{'' if every else '?state=waiting'}")
    spare = ("asked", "task", "agent", "why")
    tell_each(console, found, COLUMNS, _row, spare=spare, json=json)


@app.command()
def watch(json: JsonFlag = False) -> None:
    """Watch the inbox: what waits, and what becomes of it, as it happens. Ctrl-C ends it.

    In a pipe it is a line for each change; with --json, the item as it is then.
    """
    trouble = Console(stderr=True)
    with runner() as api:
        inbox_watch.follow(console, api.inbox(tell=lambda t: say(trouble, t, "yellow")), json=json)


@app.command()
def show(
    item: ItemArgument, diff: DiffOption = True, lines: LinesOption = 400, json: JsonFlag = False
) -> None:
    """Show one item: who wants exactly what, why and out of what, what happens then, what was decided.

    Of a push that is held: its commits and what it changes, too. Of a tool call: its exact arguments. Of
    tools that have changed: what they were, and what they are now.
    """
    with runner() as api:
        found = api.get(_path(item))
        push = found["kind"] == PUSH
        kept = push and diff and found["state"] in OPEN
        preview, trouble = preview_of(api, item) if kept else (None, "")
    if json:
        print_json({**found, "preview": preview} if push else found)
        return
    print_table(console, ("", ""), item_page.told_of(found))
    if found["kind"] == TOOL_CHANGE:
        print_changes(console, found, lines)
    if preview:
        print_preview(console, preview, lines)
    if trouble:
        say(console, trouble, "yellow")


@app.command()
def approve(
    item: ItemArgument,
    once: Annotated[bool, typer.Option("--once", help="For one request.")] = False,
    run: Annotated[bool, typer.Option("--run", help="For the run, as long as it lasts.")] = False,
    by_rule: Annotated[bool, typer.Option("--rule", help="By a standing rule.")] = False,
    until: Annotated[
        str, typer.Option(metavar="DATE", help="The rule's last day, such as 2026-12-31 (UTC).")
    ] = "",
    scope: Annotated[
        str, typer.Option("--for", help="Whose runs the rule is for: engagement, agent or project.")
    ] = "engagement",
    host: Annotated[str, typer.Option(help="Another host, or `*.name` for all below it.")] = "",
    path: Annotated[
        list[str] | None,
        typer.Option(help="Another path; `*` and `**` stand for more. Repeatable."),
    ] = None,
    arguments: ArgumentsOption = None,
    bounds: BoundsOption = None,
    mode: ModeOption = "",
    yes: YesOption = False,
    note: NoteOption = "",
    user: UserOption = "",
    json: JsonFlag = False,
) -> None:
    """Allow it: once, for the run, or by a standing rule, which is tried on the record first.

    A push or a tool call is allowed once, which needs not be said: what is kept of it is sent then. With a
    standing rule the held call itself is made, too. A tool is granted for the run or by a standing rule.
    """
    verb = _verb(item, {"once": once, "run": run, "rule": by_rule})
    if by_rule and not until:
        raise CommandFailed("a standing rule has a last day: --until 2026-12-31", Code.USAGE)
    body = {
        "note": text_of(note),
        "as": user,
        "host": host,
        "paths": path or [],
        "scope": scope,
        "until": _end_of(until) if by_rule else None,
        "arguments": _json_in(arguments),
        "bounds": _json_in(bounds),
        "mode": mode or None,
    }
    _approve(item, verb, body, yes=yes, json=json)


@app.command()
def edit(
    item: ItemArgument,
    arguments: Annotated[Path, typer.Argument(help="A file with the arguments, in JSON.")],
    note: NoteOption = "",
    user: UserOption = "",
    json: JsonFlag = False,
) -> None:
    """Allow a tool call once, with your arguments in place of the agent's; that you changed them is kept."""
    body = {"note": text_of(note), "as": user, "arguments": _json_in(arguments)}
    _approve(item, "once", body, yes=True, json=json)


@app.command()
def rule(
    item: ItemArgument,
    until: Annotated[
        str, typer.Option(metavar="DATE", help="The rule's last day, such as 2026-12-31 (UTC).")
    ],
    scope: Annotated[
        str, typer.Option("--for", help="Whose runs the rule is for: engagement, agent or project.")
    ] = "engagement",
    bounds: BoundsOption = None,
    mode: ModeOption = "",
    try_only: Annotated[
        bool, typer.Option("--try", help="Only say what it would have allowed; decide nothing.")
    ] = False,
    yes: YesOption = False,
    note: NoteOption = "",
    user: UserOption = "",
    json: JsonFlag = False,
) -> None:
    """Allow it by a standing rule, which is tried on the record first; a held call itself is made, too."""
    body = {
        "note": text_of(note),
        "as": user,
        "host": "",
        "paths": [],
        "scope": scope,
        "until": _end_of(until),
        "bounds": _json_in(bounds),
        "mode": mode or None,
    }
    if not try_only:
        _approve(item, "rule", body, yes=yes, json=json)
        return
    with runner() as api:
        tried = _tried(api, item, body, yes=True)
    if json:
        print_json(tried)
        return
    say(console, _told(tried))


def _approve(item: str, verb: str, body: Mapping[str, Any], *, yes: bool, json: bool) -> None:
    with runner() as api:
        tried = _tried(api, item, body, yes=yes) if verb == "rule" else None
        done = api.post(f"{_path(item)}/{verb}", body)
    if json:
        print_json({**done, "tried": tried})
        return
    if tried is not None:
        say(console, _told(tried))
    _say_done(done)


@app.command()
def deny(
    item: ItemArgument, note: NoteOption = "", user: UserOption = "", json: JsonFlag = False
) -> None:
    """Deny it; the agent is told, with your words."""
    _decide(item, "deny", note, user, json=json)


@app.command()
def rules(json: JsonFlag = False) -> None:
    """List the standing rules: what they open, for whom, until when, by whom."""
    with runner() as api:
        found = api.get("/api/approvals?state=standing&limit=500")
    columns = ("id", "opens", "for", "until", "by", "asked for")
    tell_each(console, found, columns, _rule_row, spare=("asked for", "by"), json=json)


@app.command()
def revoke(
    item: ItemArgument, note: NoteOption = "", user: UserOption = "", json: JsonFlag = False
) -> None:
    """Take back what was allowed; runs that go on lose it at once."""
    _decide(item, "revoke", note, user, json=json)


def _decide(item: str, verb: str, note: str, user: str, *, json: bool) -> None:
    with runner() as api:
        done = api.post(f"{_path(item)}/{verb}", {"note": text_of(note), "as": user})
    if json:
        print_json(done)
        return
    _say_done(done)


def _say_done(done: Mapping[str, Any]) -> None:
    item = done["approval"]
    first = item["came"].get("first")
    if first and item["state"] == "waiting":
        say(console, f"{item['id']}: {first['by']} allows it; one more person has to", "yellow")
        return
    say(console, f"{item['id']}: {item['title']} is {item['state']}, as {item['decided_by']}")
    if words := item["came"].get("words"):
        say(console, words)
    if not done["in_force"] and item["kind"] in {PUSH, CALL}:
        later = (
            f"it goes on by itself: `sandgate approvals show {item['id']}` says what comes of it"
        )
        say(console, later, "yellow")
    elif not done["in_force"]:
        who = "door" if item["kind"] == TOOL_CHANGE else "egress proxy"
        late = f"the {who} has not taken it up yet; it will: `sandgate status`"
        say(console, late, "yellow")
    if done["woken"]:
        say(console, f"{item['task']} goes on")


def _tried(api: Runner, item: str, body: Mapping[str, Any], *, yes: bool) -> dict[str, Any]:
    """What the rule would have let through. Raises: CommandFailed when a person has denied of it."""
    names = ("host", "paths", "arguments", "bounds", "mode")
    edits = {name: body[name] for name in names if body.get(name) is not None}
    tried: dict[str, Any] = api.post(f"{_path(item)}/try", edits)
    if tried["denied_by_people"] and not yes:
        raise CommandFailed(
            f"{_told(tried)}; nothing was decided: narrow it, or say --yes",
            Code.REFUSED,
        )
    return tried


def _told(tried: Mapping[str, Any]) -> str:
    hosts = ", ".join(f"{host} {number}" for host, number in tried["hosts"].items())
    where = f" ({hosts})" if hosts else ""
    return (
        f"it would have allowed {tried['would_allow']} recorded attempts in 30 days{where}, "
        f"{tried['denied_by_people']} of which a person denied{_untold(tried)}"
    )


def _untold(tried: Mapping[str, Any]) -> str:
    more = tried["untold"]
    return f"; of {more} more it can't be told, their arguments were not kept whole" * bool(more)


def _json_in(file: Path | None) -> object:
    """What a file has in JSON; None without one. Raises: CommandFailed."""
    if file is None:
        return None
    try:
        return loads(read_text(file))
    except ValueError as error:
        raise CommandFailed(f"{file} is no JSON: {error}", Code.USAGE) from error


def _row(one: Mapping[str, Any]) -> Sequence[object]:
    whose = (one["id"], one["state"], one["agent"])
    why = one["why"] or "; ".join(one["wanted"].get("reasons", ()))
    return *whose, one["title"], one_line(why), one["task"], one["asked_at"][:19]


def _rule_row(one: Mapping[str, Any]) -> Sequence[object]:
    granted, scope = one["granted"], one["scope"] or {}
    paths = " ".join(granted.get("paths", []))
    if one["kind"] == CALL_RULE:
        opens = held_call.rule_words(one)
    elif one["kind"] == TOOL:
        opens = f"{one['title']} ({granted.get('mode', '')})"
    elif one["kind"] == TOOL_CHANGE:
        opens = "the tools as they are since"
    else:
        opens = f"{' '.join(granted.get('methods', []))} {granted.get('host', '')} {paths}"
    whose = f"{scope.get('kind', '')} {scope.get('id', '')}"
    return one["id"], opens, whose, (one["until"] or "")[:16], one["decided_by"], one["title"]


def _verb(item: str, flags: Mapping[str, bool]) -> str:
    said = [name for name, flag in flags.items() if flag]
    if not said:
        with runner() as api:
            said = ["once"] if api.get(_path(item))["kind"] in _ALLOWED_AT_ONCE else []
    if len(said) != 1:
        raise CommandFailed("say one of --once, --run and --rule", Code.USAGE)
    return said[0]


def _end_of(day: str) -> str:
    """The end of a day, or a moment as it is. Raises: CommandFailed."""
    try:
        if len(day) == len("2026-12-31"):
            end = datetime.combine(date.fromisoformat(day), time(), UTC) + timedelta(days=1)
        else:
            end = datetime.fromisoformat(day)
    except ValueError as error:
        raise CommandFailed(f"{day!r} is no date such as 2026-12-31", Code.USAGE) from error
    return (end if end.tzinfo else end.replace(tzinfo=UTC)).isoformat()


def _path(item: str) -> str:
    return f"/api/approvals/{segment(item)}"
