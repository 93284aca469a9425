"""Who may do what: roles decide, in each project for itself."""

from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from entrance.errors import Conflict, Forbidden, NotFound
from orchestrator.adapters.polarion import NewItem, PolarionClient, Text
from tests.servers.polarion import PolarionServer, client_of, polarion_server, wire_to


@pytest.fixture
async def bot_token(admin: PolarionClient, project: str) -> str:
    """The token of a bot that works in the project and reads the Agent Pool."""
    bot = f"bot-{project.lower()}"
    await admin.users.create(bot, "Rex")
    await admin.users.set_project_roles(bot, [(project, "agent"), ("AGENTS", "agent_reader")])
    return await admin.users.make_token(bot, "work")


@pytest.fixture
async def bot(server: PolarionServer, bot_token: str) -> AsyncIterator[PolarionClient]:
    async with client_of(server.base, bot_token) as client:
        yield client


async def test_a_bot_works_where_it_has_a_role(bot: PolarionClient, project: str) -> None:
    """It writes as itself: nobody can say that someone else was the author."""
    made = await bot.items.create(project, NewItem("task", "T", assignees=["x"]))
    await bot.comments.add(made, Text("mine"))
    me = f"bot-{project.lower()}"
    assert (await bot.users.me()).id == me
    assert (await bot.items.get(made)).author == me
    assert [one.author for one in await bot.comments.of(made)] == [me]


async def test_a_bot_sees_nothing_of_projects_without_a_role(
    bot: PolarionClient, admin: PolarionClient, server: PolarionServer
) -> None:
    """Reading, writing, querying and including: all refused or empty."""
    await admin.projects.create(f"X{server.port}", prefix="XX")
    secret = await admin.items.create(f"X{server.port}", NewItem("task", "secret"))
    for attempt in (
        bot.items.get(secret),
        bot.items.create(f"X{server.port}", NewItem("task", "T")),
        bot.items.update(secret, title="U"),
        bot.comments.add(secret, Text("hello")),
        bot.attachments.add(secret, "a.txt", b"x"),
        bot.links.add(secret, "parent", secret),
        bot.projects.get(f"X{server.port}"),
    ):
        with pytest.raises(Forbidden):
            await attempt
    assert not [item async for item in bot.items.query("title:secret")]
    assert f"X{server.port}" not in [one.id for one in await bot.projects.readable()]


async def test_a_linked_item_is_included_only_if_it_may_be_read(
    admin: PolarionClient, server: PolarionServer, bot_token: str, project: str
) -> None:
    """A link out of the project shows an id, never the title behind it."""
    await admin.projects.create(f"Y{project}", prefix="YY")
    hidden = await admin.items.create(f"Y{project}", NewItem("task", "hidden title"))
    seen = await admin.items.create(project, NewItem("task", "seen"))
    await admin.links.add(seen, "parent", hidden)
    path = f"/projects/{project}/workitems/{seen.split('/')[1]}/linkedworkitems"
    wish = "?include=workItem&fields%5Bworkitems%5D=%40all&fields%5Blinkedworkitems%5D=%40all"
    async with wire_to(server.base, bot_token) as wire:
        reply = await wire.ask("GET", path + wish)
    assert reply.status == 200
    assert reply.json["data"][0]["id"].endswith(hidden)
    assert b"hidden title" not in reply.body


async def test_a_reader_can_not_write(bot: PolarionClient) -> None:
    """`agent_reader` gives GET and no more."""
    assert (await bot.projects.get("AGENTS")).id == "AGENTS"
    with pytest.raises(Forbidden, match="may not POST in project 'AGENTS'"):
        await bot.items.create("AGENTS", NewItem("skill", "mine"))


async def test_a_bot_can_neither_approve_nor_set_a_status(
    bot: PolarionClient, admin: PolarionClient, project: str
) -> None:
    """It moves its task by the workflow, and the decisions of people are not for it."""
    made = await bot.items.create(project, NewItem("task", "T", assignees=["bot"]))
    await bot.items.update(made, workflow_action="start")
    await bot.items.update(made, workflow_action="submit")
    with pytest.raises(Conflict, match="it needs one of the roles"):
        await bot.items.update(made, workflow_action="approve")
    with pytest.raises(Forbidden, match="use a workflow action"):
        await bot.items.update(made, status="done")
    with pytest.raises(Forbidden):
        await bot.items.delete(made)
    assert "approve" not in await bot.items.actions(made)
    await admin.items.update(made, workflow_action="approve")
    assert (await bot.items.get(made)).status == "done"


async def test_only_an_administrator_manages(bot: PolarionClient, project: str) -> None:
    """A bot makes no users, roles, tokens or projects, its own included."""
    me = f"bot-{project.lower()}"
    for attempt in (
        bot.users.create("friend", "Friend"),
        bot.users.set_project_roles(me, [(project, "project_admin")]),
        bot.users.make_token(me, "another"),
        bot.users.make_token("admin", "stolen"),
        bot.projects.create("MINE"),
    ):
        with pytest.raises(Forbidden):
            await attempt


async def test_a_role_that_is_taken_away_is_gone_at_once(
    bot: PolarionClient, admin: PolarionClient, project: str
) -> None:
    made = await bot.items.create(project, NewItem("task", "T"))
    await admin.users.set_project_roles(f"bot-{project.lower()}", [])
    with pytest.raises(Forbidden):
        await bot.items.get(made)


async def test_a_token_ends_with_its_revocation_expiry_or_user(
    server: PolarionServer, admin: PolarionClient, project: str, bot_token: str
) -> None:
    """Revoked, expired, of a disabled user, unknown, or none: 401 each time."""
    bot = f"bot-{project.lower()}"
    tokens = f"/users/{bot}/tokens"
    async with wire_to(server.base.replace("/rest/v1", "/embedded")) as ours:
        expired = await ours.ask(
            "POST", tokens, json={"name": "old", "expires": "2020-01-01T00:00:00Z"}
        )
        assert expired.status == 201
        async with wire_to(server.base, expired.json["data"]["attributes"]["token"]) as wire:
            assert (await wire.ask("GET", "/user")).status == 401
        listed = await ours.ask("GET", tokens)
        assert bot_token not in listed.body.decode()
        number = listed.json["data"][0]["id"].split("/")[1]
        async with wire_to(server.base, bot_token) as wire:
            assert (await wire.ask("GET", "/user")).status == 200
            assert (await ours.ask("DELETE", f"{tokens}/{number}")).status == 204
            assert (await wire.ask("GET", "/user")).error["detail"] == "Invalid access token"
    fresh = await admin.users.make_token(bot, "fresh")
    async with wire_to(server.base) as wire:
        data = {"type": "users", "id": bot, "attributes": {"disabled": True}}
        assert (await wire.ask("PATCH", f"/users/{bot}", json={"data": data})).status == 204
    async with wire_to(server.base, fresh) as wire:
        assert (await wire.ask("GET", "/user")).status == 401
    async with wire_to(server.base, "") as wire:
        assert (await wire.ask("GET", "/projects")).error["detail"] == "No access token"


async def test_a_wrong_token_fails_at_once(server: PolarionServer) -> None:
    """One request, no retries: a wrong token must not block a run."""
    asked = 0

    def wrong(_method: str, _url: object) -> dict[str, str]:
        nonlocal asked
        asked += 1
        return {"Authorization": "Bearer nonsense"}

    async with aiohttp.ClientSession() as session:
        client = PolarionClient(session, server.base, wrong)
        with pytest.raises(Forbidden, match="401: Invalid access token"):
            await client.users.me()
    assert asked == 1


async def test_no_token_is_ever_on_the_disk(tmp_path: Path) -> None:
    """Only hashes are stored: neither database, nor WAL, nor log holds a token's text."""
    with polarion_server(tmp_path) as server:
        async with client_of(server.base) as admin:
            await admin.users.create("bot", "Rex")
            token = await admin.users.make_token("bot", "work")
            async with client_of(server.base, token) as bot:
                with pytest.raises(NotFound):
                    await bot.users.get("nobody")
        files = [p for p in tmp_path.rglob("*") if p.is_file() and p.name != "admin-token"]
        assert any(path.name.endswith(".sqlite3-wal") for path in files)
        for secret in (token, token.removeprefix("sgp_"), "admin-token-of-the-tests"):
            assert not [path for path in files if secret.encode() in path.read_bytes()]
