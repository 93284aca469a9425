"""The tools that an agent works with, as its own bot user, against the strict embedded server."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from entrance.errors import Forbidden, NotFound, Unavailable
from entrance.mcp.gateway import RESULT_CHARS
from entrance.ports import ToolResult
from entrance.tool_policy import MODES, BeyondTools, ConnectionRules, Mode, ToolRule
from orchestrator.adapters.polarion import NewItem, Text
from tests.component.polarion.office import Office, an_office
from tests.servers.pocketbase import free_port
from tests.servers.polarion import PolarionServer, client_of

HTML = Text("<p>It is <b>broken</b> &amp; <i>old</i>.</p><script>x</script>", "text/html")


@pytest.fixture
async def office(strict_server: PolarionServer, tmp_path: Path) -> AsyncIterator[Office]:
    async with an_office(strict_server, tmp_path) as office:
        yield office


def read(result: ToolResult) -> Any:
    assert not result.is_error, result.text
    return orjson.loads(result.text)


def refused(result: ToolResult) -> str:
    """The sentence that the agent gets."""
    assert result.is_error, result.text
    assert " " in result.text.strip()
    return result.text


async def test_a_tool_that_there_is_not_is_refused(office: Office) -> None:
    assert "no tool rm" in refused(await office.call("rm"))
    assert len(await office.tools.tools(office.session)) == 14


async def test_the_task_is_read_as_plain_text(office: Office) -> None:
    await office.admin.items.update(office.task, description=HTML)
    result = await office.call("get_task")
    task = read(result)
    assert (task["id"], task["title"], task["status"]) == (office.task, "Fix it", "in_progress")
    assert task["description"] == "It is broken & old."
    assert task["fields"]["repository"] == "https://git.example/a/b"
    assert result.touched == (office.task,)


async def test_an_item_is_found_by_its_short_id_too(office: Office) -> None:
    other = await office.admin.items.create(office.project, NewItem("task", "Other"))
    for name in (other, other.split("/")[1]):
        result = await office.call("get_work_item", id=name)
        assert read(result)["title"] == "Other"
        assert result.touched == (other,)


async def test_a_very_long_task_is_read_in_part(office: Office) -> None:
    long = "word " * 200_000
    await office.admin.items.update(office.task, description=Text(long, "text/html"))
    await office.admin.comments.add(office.task, Text(long))
    for tool in ("get_task", "list_comments"):
        result = await office.call(tool)
        assert "characters]" in result.text
        assert len(result.text) < RESULT_CHARS
        read(result)


async def test_comments_are_read_with_their_authors_and_written_as_the_bot(office: Office) -> None:
    await office.admin.comments.add(office.task, HTML, title="By hand")
    result = await office.call("add_comment", text="<b>I</b> see", title="Hello")
    assert result.touched == (office.task,)
    await office.call("add_comment", text="without a title", id=office.task.split("/")[1])
    result = await office.call("list_comments")
    assert [(one["author"], one["title"], one["text"]) for one in read(result)] == [
        ("admin", "By hand", "It is broken & old."),
        (office.rex, "Hello", "<b>I</b> see"),
        (office.rex, "", "without a title"),
    ]
    assert result.touched == (office.task,)


async def test_a_search_stays_in_the_project_and_names_what_it_showed(office: Office) -> None:
    mine = [
        await office.admin.items.create(office.project, NewItem("task", f"needle {n}"))
        for n in range(4)
    ]
    await office.admin.items.create("AGENTS", NewItem("skill", "needle elsewhere"))
    result = await office.call("search_work_items", query="title:needle*", limit=3)
    assert [one["id"] for one in read(result)] == mine[:3]
    assert result.touched == tuple(mine[:3])
    result = await office.call("search_work_items", query="title:needle*")
    assert [one["id"] for one in read(result)] == mine


@pytest.mark.parametrize("query", ["title:*x", "((", "SQL:(select 1)", "a:b:c"])
async def test_a_query_that_can_not_be_read_is_explained(office: Office, query: str) -> None:
    assert "400" in refused(await office.call("search_work_items", query=query))


async def test_what_an_agent_makes_is_marked_and_linked(office: Office) -> None:
    result = await office.call("create_work_item", type="task", title="More", description="<b>x")
    [made] = result.touched
    item = await office.item(made)
    assert (item.type, item.title, item.status) == ("task", "More", "open")
    assert (item.author, item.assignees) == (office.rex, ())
    assert item.description == Text("<b>x")
    assert (item.custom["aiGenerated"], item.custom["runKey"]) == (True, office.run)
    record = (await office.now()).record
    assert await office.links(made) == {("for_task", office.task), ("produced_by", record)}


async def test_a_memory_is_the_agents_own_and_waits_for_a_person(office: Office) -> None:
    result = await office.call("create_work_item", type="memory", title="Tests are slow")
    [made] = result.touched
    item = await office.item(made)
    assert (item.status, item.custom["agentBot"]) == ("proposed", office.rex)
    record = (await office.now()).record
    assert await office.links(made) == {("for_task", office.task), ("learned_in", record)}
    assert await office.tracker.memories(office.project, office.rex) == []
    await office.admin.items.update(made, workflow_action="accept")
    assert await office.tracker.memories(office.project, office.rex) == ["Tests are slow"]


async def test_a_second_try_makes_nothing_twice(office: Office) -> None:
    """The answer of the first was lost; its links may be missing."""
    first = await office.call("create_work_item", type="task", title="More")
    record = (await office.now()).record
    await office.admin.links.remove(first.touched[0], "produced_by", record)
    again = await office.call("create_work_item", type="task", title="More")
    assert "exists already" in again.text
    assert again.touched == first.touched
    assert len(await office.links(first.touched[0])) == 2
    other = await office.call("create_work_item", type="task", title="More of it")
    assert other.touched != first.touched


async def test_what_is_made_but_can_not_be_linked_is_told_and_in_the_ledger(office: Office) -> None:
    run = await office.now()
    await office.world.amend(
        run.id, lambda r: replace(r, record="NO/SUCH-1", version=r.version + 1)
    )
    result = await office.call("create_work_item", type="task", title="Loose")
    assert "could not be linked" in refused(result)
    [made] = result.touched
    assert (await office.item(made)).title == "Loose"


async def test_another_project_is_closed_to_the_bot(office: Office) -> None:
    """Refusals are sentences; what was refused isn't touched."""
    elsewhere = f"{office.project}X"
    await office.admin.projects.create(elsewhere)
    secret = await office.admin.items.create(elsewhere, NewItem("task", "secret"))
    await office.admin.items.create("AGENTS", NewItem("skill", "x"))
    for tool, arguments in (
        ("get_work_item", {"id": secret}),
        ("list_comments", {"id": secret}),
        ("add_comment", {"id": secret, "text": "hello"}),
    ):
        result = await office.call(tool, **arguments)
        assert f"may not {'POST' if tool == 'add_comment' else 'GET'}" in refused(result)
        assert result.touched == ()
    assert not await office.admin.comments.of(secret)


@pytest.mark.parametrize(
    ("item", "words"),
    [("NOPE-1", "404"), ("a/b/c", "write PROJECT/ITEM"), ("x/..", "can't be a part"), ("", "PROJECT/ITEM")],
)  # fmt: skip
async def test_an_item_that_is_none_is_explained(office: Office, item: str, words: str) -> None:
    assert words in refused(await office.call("get_work_item", id=item))


async def test_the_pool_is_read_only_for_agents(office: Office) -> None:
    skill = await office.admin.items.create("AGENTS", NewItem("skill", "x"))
    assert read(await office.call("get_work_item", id=skill))["title"] == "x"
    assert "may not POST" in refused(await office.call("add_comment", id=skill, text="mine"))


async def test_missing_arguments_are_named(office: Office) -> None:
    """The gateway checks them first; here nothing may crash either."""
    for tool, name in (
        ("get_work_item", "id"),
        ("add_comment", "text"),
        ("search_work_items", "query"),
        ("create_work_item", "type"),
        ("submit_for_approval", "summary"),
        ("ask_questions", "questions"),
        ("delegate", "agent"),
    ):
        assert f"{name} is missing" in refused(await office.call(tool))
    assert (await office.now()).ending is None


async def test_a_bot_without_a_token_can_do_nothing(office: Office) -> None:
    await office.polarion.vault.delete(f"polarion.{office.rex}")
    assert "there is no secret" in refused(await office.call("get_task"))


async def test_a_bots_token_goes_to_polarion_only(office: Office) -> None:
    """It is in the vault, and bound to Polarion's host."""
    vault = office.polarion.vault
    headers = await vault.headers_for(
        f"polarion.{office.rex}", "GET", f"{office.polarion.settings.url}/user"
    )
    assert [value.partition(" ")[0] for value in headers.values()] == ["Bearer"]
    with pytest.raises(Forbidden):
        await vault.headers_for(f"polarion.{office.rex}", "GET", "http://127.0.0.1:1/user")


async def test_a_bot_that_lost_its_role_is_told_so(office: Office) -> None:
    await office.admin.users.set_project_roles(office.rex, [])
    assert "may not GET" in refused(await office.call("get_task"))


async def test_a_polarion_that_is_down_is_unavailable(office: Office) -> None:
    """The gateway says so to the agent; nothing is touched."""
    async with client_of(f"http://127.0.0.1:{free_port()}/polarion/rest/v1") as dead:
        tools = replace(office.tools, client_for=lambda _bot: dead)
        with pytest.raises(Unavailable):
            await tools.call(office.session, "get_task", {})


async def test_a_task_that_was_deleted_is_not_found(office: Office) -> None:
    await office.admin.items.delete(office.task)
    with pytest.raises(NotFound):
        await office.item(office.task)
    assert "404" in refused(await office.call("get_task"))
    assert "404" in refused(await office.call("submit_for_approval", summary="done"))
    assert (await office.now()).ending is None


async def test_what_a_person_wrote_last_is_known_and_what_the_agent_wrote_is_its_own(
    office: Office,
) -> None:
    made = await office.call("create_work_item", type="memory", title="Note")
    mine = made.touched[0]
    theirs = await office.admin.items.create(office.project, NewItem("task", "Other"))

    async def of_people(item: str, tool: str = "update_work_item") -> tuple[str, ...]:
        return (await office.tools.facts(office.session, tool, {"id": item})).of_people

    assert await of_people(mine) == ()
    assert await of_people(mine.split("/")[1]) == ()
    assert await of_people(theirs) == (theirs,)
    assert await of_people(theirs, "get_work_item") == ()
    assert await of_people(f"{office.project}/none") != (), "nobody can say who wrote it"
    assert not (await office.call("update_work_item", id=mine, title="Better")).is_error
    assert (await office.admin.items.get(mine)).title == "Better"
    assert await of_people(mine) == ()
    await office.admin.items.update(mine, title="Mine")
    assert await of_people(mine) == (mine,)


@pytest.mark.parametrize(
    ("arguments", "projects"),
    [({}, None), ({"id": "X-1"}, None), ({"id": "OTHER/X-1"}, "OTHER"), ({"id": 7}, None)],
)
async def test_what_a_call_is_about_is_told_with_the_runs_own_project(
    office: Office, arguments: dict[str, Any], projects: str | None
) -> None:
    facts = await office.tools.facts(office.session, "get_work_item", arguments)
    assert facts.about is not None
    assert facts.about.projects == {projects or office.project}


async def test_an_agent_reads_what_it_has_learned_newest_first(office: Office) -> None:
    for title in ("One", "Two"):
        await office.call("create_work_item", type="memory", title=title, description="text")
    rows = read(await office.call("list_memories"))
    assert {(row["title"], row["text"]) for row in rows} == {("One", "text"), ("Two", "text")}
    assert len(read(await office.call("list_memories", limit=1))) == 1


async def test_an_agent_sees_what_it_may_do_and_why_not_more(office: Office) -> None:
    wiki = ConnectionRules(
        {"write": ToolRule(Mode.APPROVAL, '{"maxProperties":1}')},
        more=BeyondTools(frozenset({"greet"}), ("wiki://*",), frozenset({"sampling"})),
    )
    office.session = replace(
        office.session,
        tools={"polarion": frozenset({"get_task"}), "wiki": frozenset({"write"})},
        tool_rules={"wiki": wiki},
    )
    polarion, other = read(await office.call("list_my_tools"))
    assert polarion["tools"] == [{"tool": "get_task", "mode": "write", "means": MODES[Mode.WRITE]}]
    assert "add_comment" in polarion["not_granted"]
    assert "supervisor" in polarion["why_not"]
    assert other["tools"][0]["arguments_must_fit"] == '{"maxProperties":1}'
    assert other["others"] == MODES[Mode.APPROVAL]
    assert (other["prompts"], other["resources"]) == (["greet"], ["wiki://*"])
    assert other["its_server_may_ask_you_for"] == ["sampling"]


async def test_who_waits_has_something_to_wait_for(office: Office) -> None:
    told = refused(await office.call("wait_for_decision", summary="I wait."))
    assert "nothing of yours waits" in told
