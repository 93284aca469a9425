"""`sandgate approvals` with tool calls that are held, against a real API."""

import json
from dataclasses import replace
from pathlib import Path

from entrance.mcp.canonical import canonical, hash_of
from orchestrator.cli.codes import Code
from orchestrator.domain.access import RecordedCall
from orchestrator.domain.approval import ApprovalState, Verb
from orchestrator.domain.task import TaskStatus
from tests.fakes.calls import ARGUMENTS, a_call, releasing, session_of
from tests.fakes.clock import START
from tests.fakes.world import TASK
from tests.servers.api import Api
from tests.servers.command import sandgate_beside

EVIL = "x\x1b]0;owned\x07\u202e[red]y[/red]"


async def test_exactly_what_would_be_sent_is_shown_and_an_agents_words_do_nothing(api: Api) -> None:
    house = api.calls
    arguments = {"page": "Home", "text": EVIL}
    run = await house.running()
    item = await house.held(a_call(run, arguments))
    listed = await sandgate_beside("approvals", "ls")
    shown = await sandgate_beside("approvals", "show", item)
    for done in (listed, shown):
        assert done.code == 0
        assert not set(done.out) & set("\x1b\x07\u202e")
    told = " ".join(shown.out.split())
    for words in (run.id, run.task, "call call-1", "needs_approval", "if it is allowed"):
        assert words in told
    assert hash_of(canonical(arguments)) in "".join(shown.out.split())


async def test_a_call_is_approved_and_sent_once(api: Api) -> None:
    house = api.calls
    item = await house.held(a_call(await house.running()))
    async with releasing(house):
        done = await sandgate_beside("approvals", "approve", item)
        again = await sandgate_beside("approvals", "approve", item)
    assert done.code == 0
    assert "is released, as lead" in done.out
    assert "It answered: done" in done.out
    assert again.code != 0
    assert house.wiki.calls == [("write", ARGUMENTS)]


async def test_a_call_is_edited_and_it_is_kept_that_it_was(api: Api, tmp_path: Path) -> None:
    house = api.calls
    item = await house.held(a_call(await house.running()))
    file = tmp_path / "arguments.json"
    file.write_text('{"page": "Draft"}')
    async with releasing(house):
        done = await sandgate_beside("approvals", "edit", item, str(file))
    assert done.code == 0
    assert house.wiki.calls == [("write", {"page": "Draft"})]
    shown = await sandgate_beside("approvals", "show", item)
    assert "arguments, as edited" in shown.out
    file.write_text("{")
    assert (await sandgate_beside("approvals", "edit", item, str(file))).code != 0


async def test_an_edit_that_the_tool_would_not_take_decides_nothing(
    api: Api, tmp_path: Path
) -> None:
    house = api.calls
    item = await house.held(a_call(await house.running()))
    file = tmp_path / "arguments.json"
    file.write_text('{"text": "no page"}')
    refused = await sandgate_beside("approvals", "edit", item, str(file))
    assert refused.code == Code.REFUSED
    assert "with these arguments it can't be made" in refused.err
    assert house.now(item).state is ApprovalState.WAITING
    assert not house.wiki.calls


async def test_a_task_is_not_approved_while_a_call_of_it_is_held(api: Api) -> None:
    item = await api.calls.held(a_call(await api.calls.running()))
    api.fakes.tracker.tasks[TASK.id] = replace(TASK, status=TaskStatus.IN_REVIEW)
    refused = await sandgate_beside("task", "approve", TASK.id)
    assert refused.code == Code.REFUSED
    assert f"a tool call of it is held still: {item}" in refused.err
    await api.calls.decide(item, Verb.DENY)
    assert (await sandgate_beside("task", "approve", TASK.id)).code == 0


async def test_two_people_are_waited_for(api: Api) -> None:
    house = api.calls
    item = await house.held(a_call(await house.running(), two_people=True))
    async with releasing(house):
        first = await sandgate_beside("approvals", "approve", item)
        assert "one more person has to" in first.out
        assert not house.wiki.calls
        await sandgate_beside("approvals", "approve", item, "--as", "second")
    assert house.wiki.calls == [("write", ARGUMENTS)]


async def test_a_rule_is_tried_made_listed_and_revoked(api: Api, tmp_path: Path) -> None:
    house = api.calls
    run = await house.running()
    denied = await house.held(a_call(run, {"page": "Secret"}))
    async with releasing(house):
        await sandgate_beside("approvals", "deny", denied)
    item = await house.held(a_call(run))
    api.inbox.record.called = [
        RecordedCall(START, "wiki", "write", hash_of(canonical(one)), one, run=run.id)
        for one in ({"page": "Secret"}, {"page": "Help"})
    ]
    bounds = tmp_path / "bounds.json"
    bounds.write_text(json.dumps({"properties": {"page": {"type": "string"}}}))
    how = ("approvals", "rule", item, "--until", "2099-12-31", "--bounds", str(bounds))
    async with releasing(house):
        refused = await sandgate_beside(*how)
        assert refused.code != 0
        assert "2 recorded attempts" in refused.out + refused.err
        assert "1 of which a person denied" in refused.out + refused.err
        assert house.now(item).state is ApprovalState.WAITING
        made = await sandgate_beside(*how, "--yes")
    assert made.code == 0
    assert house.wiki.calls == [("write", ARGUMENTS)]
    (rule,) = json.loads((await sandgate_beside("approvals", "rules", "--json")).out)
    assert "write of wiki" in (await sandgate_beside("approvals", "rules")).out
    assert house.rules.of(session_of(run))
    await sandgate_beside("approvals", "revoke", rule["id"])
    assert not house.rules.of(session_of(run))
