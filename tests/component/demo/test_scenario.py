"""The demo's bug is real, and the demo's scenario fixes it: played by hand, through the git door.

The project comes through pip from this machine's package index, as in the demo.
"""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from orchestrator.stack.demo.project import make_repository
from orchestrator.stack.demo.task import SCENARIO, load_demo
from orchestrator.stack.scripted import checking, names
from orchestrator.stack.scripted.entries import ActionEntry
from orchestrator.stack.scripted.loading import load
from orchestrator.stack.scripted.request import Result
from orchestrator.stack.scripted.scenario import Call
from tests.servers.git import ITEM, Door, door

VALUES = {"item": ITEM, "wish": ""}
BRANCH = f"refs/heads/agent/{ITEM}/fix-compile-case-sensitive"


@pytest.fixture
async def at_door(tmp_path: Path) -> AsyncIterator[Door]:
    async with door(tmp_path) as opened:
        cache = tmp_path / "cache"
        await asyncio.to_thread(make_repository, load_demo(), cache=cache, root=opened.root)
        yield opened


async def play(at_door: Door, conversation: str, clone: Path) -> list[Call]:
    """Do what the scenario says, in the clone; what the gateway would be asked."""
    asked = []
    turns = next(each for each in load(SCENARIO).conversations if each.name == conversation).turns
    for call in (call for turn in turns for call in turn.calls):
        if call.kind == "mcp":
            asked.append(call)
            continue
        result = await _done(at_door, call, clone)
        assert checking.difference(call, result, VALUES) is None, call.place
    return asked


async def _done(at_door: Door, call: Call, clone: Path) -> Result:
    match call.kind:
        case "shell":
            return await _shell(at_door, names.fill(call.entry.shell or "", VALUES), clone)
        case "read":
            return Result((clone / (call.entry.read or "")).read_text())
        case "edit":
            return _edit(call.entry, clone)
        case _:
            pytest.fail(f"{call.place}: this test can't play it")


async def _shell(at_door: Door, command: str, clone: Path) -> Result:
    path = f"{Path(sys.executable).parent}:{os.defpath}"
    process = await asyncio.create_subprocess_exec(
        *("bash", "-c", command),
        cwd=clone,
        env={
            "PATH": path,
            "HOME": str(at_door.git.home),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            **{f"GIT_{who}_NAME": "agent" for who in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{who}_EMAIL": "agent@localhost" for who in ("AUTHOR", "COMMITTER")},
        },
        stdout=PIPE,
        stderr=STDOUT,
    )
    async with asyncio.timeout(60):
        out, _ = await process.communicate()
    return Result(out.decode(), is_error=process.returncode != 0)


def _edit(entry: ActionEntry, clone: Path) -> Result:
    file = clone / (entry.edit or "")
    text = file.read_text()
    assert text.count(entry.old) == 1
    file.write_text(text.replace(entry.old, entry.new))
    return Result("done")


async def test_the_scenario_fixes_the_bug_and_main_stays_as_it_was(at_door: Door) -> None:
    clone = await at_door.clone("host/parse.git", "parse")
    main = (await at_door.refs("demo/parse.git"))["refs/heads/main"]

    asked = await play(at_door, "fix", clone)

    assert [call.entry.mcp for call in asked] == ["get_task", "submit_for_approval"]
    refs = await at_door.refs("demo/parse.git")
    assert set(refs) == {"refs/heads/main", BRANCH}
    assert refs["refs/heads/main"] == main
    words = [each.decision.word for each in at_door.audit.decisions("git_push")]
    assert words.count("deny") == 1, "the push to main is refused, and on record"


async def test_a_run_that_repeats_a_lost_one_ends_the_same(at_door: Door) -> None:
    clone = await at_door.clone("host/parse.git", "parse")
    await play(at_door, "fix", clone)
    before = await at_door.refs("demo/parse.git")
    (clone / "parse.py").write_text("half a change\n")

    await play(at_door, "fix", clone)

    assert await at_door.refs("demo/parse.git") == before


async def test_work_that_is_sent_back_goes_on_from_its_branch(at_door: Door) -> None:
    await play(at_door, "fix", await at_door.clone("host/parse.git", "first"))
    before = (await at_door.refs("demo/parse.git"))[BRANCH]

    asked = await play(at_door, "feedback", await at_door.clone("host/parse.git", "second"))

    assert [call.entry.mcp for call in asked] == ["list_comments", "submit_for_approval"]
    after = (await at_door.refs("demo/parse.git"))[BRANCH]
    bare = at_door.root / "demo/parse.git"
    assert await at_door.git.ok("-C", bare, "rev-parse", f"{after}^") == before
