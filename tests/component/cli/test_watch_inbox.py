"""`sandgate approvals watch`: what waits, and what becomes of it, also over a restart of the runner."""

import asyncio
import json
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from orchestrator.approvals.handling import Decision
from orchestrator.cli import inbox_watch
from orchestrator.cli.client import Runner
from orchestrator.domain.approval import Verb
from orchestrator.stack.installation import Installation
from tests.servers.api import Api, api_server
from tests.waiting import until

EVIL = "x\x1b]0;owned\x07\u202e[red]y[/red]"


def heard(runner: Runner, into: list[tuple[str, Any]], told: list[str], most: int) -> None:
    """What a watcher hears, so much of it."""
    for one in runner.inbox(tell=told.append):
        into.append(one)
        if len(into) == most:
            return


async def test_a_restart_of_the_runner_is_waited_for_and_what_is_open_told_anew(
    api: Api, here: Installation
) -> None:
    item = await api.asked("https://docs.example/")
    events: list[tuple[str, Any]] = []
    told: list[str] = []
    runner = Runner(api.base, here.keys / "api.token")
    async with asyncio.TaskGroup() as tasks:
        watching = tasks.create_task(asyncio.to_thread(heard, runner, events, told, 7))
        await until(lambda: len(events) == 3)
        await api.inbox.deciding.decide(item.id, Decision(Verb.DENY))
        await until(lambda: len(events) == 4)
        assert api.runner
        await api.runner.cleanup()
        async with api_server(here.home / "again", port=here.ports.runner) as again:
            await until(lambda: len(events) == 6)
            await again.asked("https://other.example/")
            await until(watching.done)
    runner.close()
    said = [(kind, data.get("title", "")) for kind, data in events]
    assert said == [
        ("reset", ""), ("item", "GET https://docs.example/"), ("all", ""),
        ("item", "GET https://docs.example/"),
        ("reset", ""), ("all", ""), ("item", "GET https://other.example/"),
    ]  # fmt: skip
    assert told == ["the runner went away; waiting for it, 60 s at most", "the runner is back"]


async def events_of(api: Api) -> list[tuple[str, Any]]:
    """One that waits, one that was denied meanwhile."""
    item = await api.asked("https://docs.example/", why=EVIL)
    listed = (await api.ask("GET", f"/api/approvals/{item.id}")).json
    await api.inbox.deciding.decide(item.id, Decision(Verb.DENY, note=EVIL))
    denied = (await api.ask("GET", f"/api/approvals/{item.id}")).json
    return [("reset", {}), ("item", listed), ("all", {}), ("item", denied)]


async def test_in_a_terminal_it_is_a_table_and_an_agents_words_do_nothing(api: Api) -> None:
    file = StringIO()
    console = Console(file=file, force_terminal=True, width=300, color_system=None)
    inbox_watch.follow(console, await events_of(api), json=False)
    shown = file.getvalue()
    assert "1 wait" in shown
    last = shown[shown.rindex("id ") :]
    assert "denied" in last
    assert "waiting" not in last
    assert "0 wait" in last
    assert not set(shown) & set("\x07\u202e")
    assert "\x1b]0;" not in shown


async def test_in_a_pipe_it_is_a_line_a_change_or_json(
    api: Api, capsys: pytest.CaptureFixture[str]
) -> None:
    events = await events_of(api)
    capsys.readouterr()
    file = StringIO()
    inbox_watch.follow(Console(file=file), events, json=False)
    first, second = file.getvalue().splitlines()
    assert "waiting" in first
    assert "denied" in second
    inbox_watch.follow(Console(file=StringIO()), events, json=True)
    states = [json.loads(line)["state"] for line in capsys.readouterr().out.splitlines()]
    assert states == ["waiting", "denied"]
