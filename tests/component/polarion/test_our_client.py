"""Our client against the embedded server."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from entrance.errors import Conflict, Malformed, NotFound
from orchestrator.adapters.polarion import Link, NewItem, PolarionClient, Rejected, Text
from orchestrator.adapters.polarion.items import batches


async def test_an_item_comes_back_as_it_was_made(admin: PolarionClient, project: str) -> None:
    """Texts, numbers, booleans and times keep their kind; the author is who wrote."""
    started = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
    new = NewItem(
        "agentRun",
        "Run 1",
        description=Text("<p>ü</p>", "text/html"),
        custom={
            "cost": 0.25,
            "inputTokens": 12,
            "aiGenerated": True,
            "ledger": Text('{"read": []}'),
            "startedAt": started,
        },
    )
    made = await admin.items.create(project, new)
    read = await admin.items.get(made)
    assert (read.id, read.project, read.type, read.title) == (made, project, "agentRun", "Run 1")
    assert (read.status, read.author, read.assignees) == ("running", "admin", ())
    assert read.description == Text("<p>ü</p>", "text/html")
    assert read.custom["ledger"] == Text('{"read": []}')
    assert (read.custom["cost"], read.custom["inputTokens"]) == (0.25, 12)
    assert read.custom["aiGenerated"] is True
    assert read.custom["startedAt"] == "2026-03-01T12:30:00.000Z"
    assert read.created == read.updated
    assert read.created.tzinfo is UTC


async def test_an_update_changes_only_what_it_names(admin: PolarionClient, project: str) -> None:
    """Other fields stay; None clears a custom field; assignees are replaced whole."""
    made = await admin.items.create(
        project,
        NewItem("task", "T", assignees=["a", "b"], custom={"repository": "r", "baseBranch": "b"}),
    )
    await admin.items.update(made, assignees=["c"], custom={"baseBranch": None})
    read = await admin.items.get(made)
    assert (read.title, read.assignees, read.custom["repository"]) == ("T", ("c",), "r")
    assert "baseBranch" not in read.custom
    await admin.items.update(made, assignees=[], title="U")
    read = await admin.items.get(made)
    assert (read.title, read.assignees, read.status) == ("U", (), "open")


async def test_a_workflow_action_alone_is_enough(admin: PolarionClient, project: str) -> None:
    """CASE-113: an action without attributes carries one, and moves the item."""
    made = await admin.items.create(project, NewItem("task", "T", assignees=["bot"]))
    assert await admin.items.actions(made) == ["start", "fail"]
    await admin.items.update(made, workflow_action="start")
    await admin.items.update(made, workflow_action="submit", assignees=["lead"])
    read = await admin.items.get(made)
    assert (read.title, read.status, read.assignees) == ("T", "in_review", ("lead",))


async def test_an_action_that_the_status_lacks_is_a_conflict(
    admin: PolarionClient, project: str
) -> None:
    """Someone else moved the item: look again. Nothing of the request is kept."""
    made = await admin.items.create(project, NewItem("task", "T"))
    with pytest.raises(Conflict, match="not available in status 'open'"):
        await admin.items.update(made, workflow_action="approve", title="changed")
    with pytest.raises(Conflict, match="was not found"):
        await admin.items.update(made, workflow_action="explode")
    assert (await admin.items.get(made)).title == "T"


async def test_an_action_wants_its_required_fields(admin: PolarionClient, project: str) -> None:
    """`submit` needs an assignee."""
    made = await admin.items.create(project, NewItem("task", "T", status="in_progress"))
    with pytest.raises(Conflict, match="required field 'assignee'"):
        await admin.items.update(made, workflow_action="submit")


async def test_a_query_goes_through_all_pages(admin: PolarionClient, project: str) -> None:
    """More items than a page holds, in the order of their numbers, each once."""
    made = await admin.items.create_many(project, [NewItem("task", f"T{n}") for n in range(25)])
    found = [
        item.id async for item in admin.items.query("type:task", project=project, page_size=10)
    ]
    assert found == made
    everywhere = [item.id async for item in admin.items.query(f"project.id:{project}", page_size=7)]
    assert everywhere == made


async def test_items_are_made_in_batches_that_fit(admin: PolarionClient, project: str) -> None:
    """Three items of 1 MiB go in two requests; the server's limit is 2 MiB."""
    large = [NewItem("task", str(n), custom={"repository": "x" * 1_000_000}) for n in range(3)]
    assert len(await admin.items.create_many(project, large)) == 3
    assert [len(batch) for batch in batches([{"n": n} for n in range(205)])] == [100, 100, 5]


async def test_a_bad_query_is_rejected_with_its_reason(admin: PolarionClient, project: str) -> None:
    """CASE-112: a leading wildcard is refused, and the client says why."""
    with pytest.raises(Rejected, match="not allowed as first character") as caught:
        [item async for item in admin.items.query("title:*foo*", project=project)]
    assert (caught.value.status, caught.value.parameter) == (400, "query")


async def test_comments_are_kept_in_order_with_their_parents(
    admin: PolarionClient, project: str
) -> None:
    made = await admin.items.create(project, NewItem("task", "T"))
    first = await admin.comments.add(made, Text("Which database?"), title="Question")
    second = await admin.comments.add(made, Text("<b>That</b>", "text/html"), parent=first)
    [question, answer] = await admin.comments.of(made)
    assert (question.id, question.title, question.text.value) == (
        first,
        "Question",
        "Which database?",
    )
    assert (question.author, question.parent, question.resolved) == ("admin", None, False)
    assert (answer.id, answer.parent, answer.text.type) == (second, first, "text/html")


async def test_links_are_seen_from_both_ends(admin: PolarionClient, project: str) -> None:
    """A link's ends may lie in two projects; a second one of the kind is a conflict."""
    agent = await admin.items.create("AGENTS", NewItem("agent", "Rex"))
    engagement = await admin.items.create(project, NewItem("engagement", "Rex here"))
    await admin.links.add(engagement, "engages", agent)
    link = Link(engagement, "engages", agent)
    assert await admin.links.of(engagement) == [link]
    assert link in await admin.links.back(agent)
    found = [item.id async for item in admin.items.query(f"linkedWorkItems:engages={agent}")]
    assert found == [engagement]
    with pytest.raises(Conflict):
        await admin.links.add(engagement, "engages", agent)
    await admin.links.remove(engagement, "engages", agent)
    assert await admin.links.of(engagement) == []


async def test_an_attachment_survives_with_name_and_bytes(
    admin: PolarionClient, project: str, tmp_path: Path
) -> None:
    """CASE-110 with our client: from memory and from a file; CASE-109: a second of the name is a conflict."""
    made = await admin.items.create(project, NewItem("task", "T"))
    name = "run & log ü.txt"
    content = bytes(range(256)) * 4096
    path = tmp_path / "source"
    path.write_bytes(content)
    first = await admin.attachments.add(made, name, path, title="Transcript")
    await admin.attachments.add(made, "../../50% a/b #?.txt", b"x")
    with pytest.raises(Conflict):
        await admin.attachments.add(made, name, b"again")
    [one, other] = await admin.attachments.of(made)
    assert (one.id, one.file_name, one.title) == (first, name, "Transcript")
    assert (one.size_bytes, one.author) == (len(content), "admin")
    assert b"".join([chunk async for chunk in admin.attachments.content(first)]) == content
    assert b"".join([chunk async for chunk in admin.attachments.content(other.id)]) == b"x"
    with pytest.raises(Malformed, match="larger than 1000 bytes"):
        [chunk async for chunk in admin.attachments.content(first, limit_bytes=1000)]
    assert (await admin.users.me()).id == "admin", "a caller that hangs up does no harm"


async def test_users_get_and_lose_project_roles(admin: PolarionClient, project: str) -> None:
    """Hiring gives a role and leaves the others; letting go takes it."""
    bot = f"bot-{project.lower()}"
    assert await admin.users.create(bot, "Rex", email="rex@example.org") == bot
    await admin.users.set_project_roles(bot, [("AGENTS", "agent_reader")])
    await admin.users.change_project_roles(bot, add=[(project, "agent")])
    user = await admin.users.get(bot)
    assert (user.name, user.email, user.disabled) == ("Rex", "rex@example.org", False)
    assert user.project_roles == {("AGENTS", "agent_reader"), (project, "agent")}
    await admin.users.change_project_roles(bot, remove=[(project, "agent")])
    assert (await admin.users.get(bot)).project_roles == {("AGENTS", "agent_reader")}
    with pytest.raises(Conflict):
        await admin.users.create(bot, "Rex again")
    with pytest.raises(Rejected, match="no project role 'emperor'"):
        await admin.users.set_project_roles(bot, [(project, "emperor")])


async def test_two_writers_on_one_item_lose_nothing(admin: PolarionClient, project: str) -> None:
    """CASE-116: reads and writes of a multi-valued field queue under one lock."""
    bot = f"bot-{project.lower()}"
    await admin.users.create(bot, "Rex")
    roles = ["agent", "agent_reader", "project_assignable", "project_admin"]
    async with asyncio.TaskGroup() as group:
        for role in roles:
            group.create_task(admin.users.change_project_roles(bot, add=[(project, role)]))
    assert (await admin.users.get(bot)).project_roles == {(project, role) for role in roles}


async def test_the_options_of_a_field_can_be_asked_before_a_write(
    admin: PolarionClient, project: str
) -> None:
    """CASE-111: unknown values are stored silently, so the caller can check first."""
    made = await admin.items.create(project, NewItem("task", "T", custom={"nobody": "knows"}))
    assert (await admin.items.get(made)).custom["nobody"] == "knows"
    statuses = await admin.projects.options(project, "status", "task")
    assert "in_review" in statuses
    assert "imaginary" not in statuses
    assert await admin.projects.options(project, "type") == [
        "agentRun",
        "engagement",
        "memory",
        "task",
    ]
    with pytest.raises(NotFound, match="not an Enumeration field"):
        await admin.projects.options(project, "title")


async def test_projects_are_made_and_read(admin: PolarionClient, project: str) -> None:
    read = await admin.projects.get(project)
    assert (read.id, read.name, read.prefix) == (project, f"Project {project}", project)
    assert project in [one.id for one in await admin.projects.readable()]
    assert "AGENTS" in [one.id for one in await admin.projects.readable()]
    with pytest.raises(Conflict):
        await admin.projects.create(project)
    with pytest.raises(NotFound, match="Project id NOWHERE does not exist"):
        await admin.projects.get("NOWHERE")


async def test_what_is_gone_is_not_found(admin: PolarionClient, project: str) -> None:
    """Reading, changing and deleting what isn't there all say so."""
    made = await admin.items.create(project, NewItem("task", "T"))
    await admin.items.delete(made)
    for attempt in (
        admin.items.get(made),
        admin.items.update(made, title="U"),
        admin.comments.of(made),
    ):
        with pytest.raises(NotFound):
            await attempt
    again = await admin.items.create(project, NewItem("task", "T"))
    assert again != made, "numbers are never given twice"
