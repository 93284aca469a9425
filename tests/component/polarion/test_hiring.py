"""Agents, engagements and tasks are made, or brought up to date, against the strict embedded server."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import count

import pytest

from entrance.errors import Conflict, NotFound, Unavailable
from entrance.push_policy import Mode
from entrance.vault.seal import Keyring
from entrance.vault.vault import Vault
from orchestrator.adapters.polarion import NewItem, PolarionClient, Text, WorkItem
from orchestrator.adapters.polarion.hiring import PolarionHiring
from orchestrator.adapters.polarion.query import matching
from orchestrator.adapters.polarion.reading import engagement_of
from orchestrator.adapters.polarion.tracker import PolarionTracker
from orchestrator.app.polarion import BotTokens, host_of
from orchestrator.domain.egress import Policy, Unreadable
from orchestrator.domain.push_demand import Demand
from orchestrator.domain.team import Engagement, Grants, Repository
from orchestrator.ports import NewAgent, NewTask
from tests.fakes.secrets import FakeSecretStore
from tests.servers.polarion import PolarionServer, client_of

_numbers = count(1)
GRANTS = Grants(
    tools={"polarion": frozenset({"get_task"})},
    repositories=(Repository("https://git.example/a/b", push=True),),
    models=frozenset({"anthropic:claude-test"}),
)


@dataclass
class Bureau:
    """Hiring with a real vault; `store` is what the vault keeps its rows in."""

    server: PolarionServer
    client: PolarionClient
    store: FakeSecretStore = field(default_factory=FakeSecretStore)
    number: int = field(default_factory=_numbers.__next__)

    @property
    def vault(self) -> Vault:
        return Vault(self.store, Keyring("k", {"k": b"k" * 32}))

    @property
    def hiring(self) -> PolarionHiring:
        tokens = BotTokens(self.vault, host_of(self.server.base))
        return PolarionHiring(self.client, "AGENTS", tokens)

    @property
    def tracker(self) -> PolarionTracker:
        return PolarionTracker(self.client, "AGENTS")

    @property
    def project(self) -> str:
        return f"H{self.number}"

    def agent(self, **changes: str) -> NewAgent:
        given = {"title": "Rex", "model": "a:b", "harness": "native", "instructions": "Be kind."}
        return NewAgent(name=f"rex-{self.number}", **{**given, **changes})

    @property
    def bot(self) -> str:
        return self.agent().bot

    async def create(self, **changes: str) -> str:
        return await self.hiring.create_agent(self.agent(**changes))

    async def hire(
        self,
        *,
        supervisor: str = "lead",
        budget: int = 5,
        grants: Grants = GRANTS,
        egress: str | None = None,
        pushes: str | None = None,
    ) -> str:
        return await self.hiring.hire(
            self.bot,
            self.project,
            supervisor=supervisor,
            budget_usd=Decimal(budget),
            grants=grants,
            egress=egress,
            pushes=pushes,
        )

    async def token(self) -> str:
        """The bot's token, as it goes out."""
        url = f"{self.server.base}/user"
        headers = await self.vault.headers_for(f"polarion.{self.bot}", "GET", url)
        return next(iter(headers.values())).removeprefix("Bearer ")

    async def who(self) -> str:
        """Whom Polarion takes the bot's token for."""
        async with client_of(self.server.base, await self.token()) as bot:
            return (await bot.users.me()).id

    async def found(self, kind: str, name: str) -> list[WorkItem]:
        query = matching({"type": kind, name: self.bot})
        return [one async for one in self.client.items.query(query)]

    async def engagement(self, item: str) -> Engagement:
        return engagement_of(await self.client.items.get(item))

    async def roles(self, user: str) -> set[tuple[str, str]]:
        return set((await self.client.users.get(user)).project_roles)


@pytest.fixture
async def bureau(strict_server: PolarionServer) -> AsyncIterator[Bureau]:
    async with client_of(strict_server.base) as client:
        yield Bureau(strict_server, client)


async def test_an_agent_is_made_with_its_user_its_token_and_its_role(bureau: Bureau) -> None:
    item = await bureau.create()
    agent = await bureau.tracker.agent(bureau.bot)
    assert agent
    assert (agent.id, agent.title, agent.harness, agent.model) == (item, "Rex", "native", "a:b")
    assert agent.instructions == "Be kind."
    assert await bureau.roles(bureau.bot) == {("AGENTS", "agent_reader")}
    assert await bureau.who() == bureau.bot


async def test_making_an_agent_twice_brings_it_up_to_date(bureau: Bureau) -> None:
    """Its token and its other roles are kept."""
    first = await bureau.create()
    token = await bureau.token()
    await bureau.hire()
    assert await bureau.create(title="Rex II", model="c:d") == first
    agent = await bureau.tracker.agent(bureau.bot)
    assert agent
    assert (agent.title, agent.model) == ("Rex II", "c:d")
    assert len(await bureau.found("agent", "botUser")) == 1
    assert await bureau.token() == token
    assert (bureau.project, "agent") in await bureau.roles(bureau.bot)


async def test_a_crash_between_user_and_token_is_repaired(bureau: Bureau) -> None:
    bureau.store.down = True
    with pytest.raises(Unavailable):
        await bureau.create()
    assert (await bureau.client.users.get(bureau.bot)).id == bureau.bot
    assert await bureau.found("agent", "botUser") == []
    bureau.store.down = False
    await bureau.create()
    assert await bureau.who() == bureau.bot
    assert len(await bureau.found("agent", "botUser")) == 1


async def test_a_crash_between_token_and_agent_is_repaired(bureau: Bureau) -> None:
    await bureau.create()
    token = await bureau.token()
    await bureau.client.items.delete((await bureau.found("agent", "botUser"))[0].id)
    await bureau.create()
    assert await bureau.token() == token
    assert len(await bureau.found("agent", "botUser")) == 1


async def test_a_retired_agent_that_is_made_again_works_again(bureau: Bureau) -> None:
    item = await bureau.create()
    await bureau.client.items.update(item, workflow_action="retire")
    assert await bureau.tracker.agent(bureau.bot) is None
    with pytest.raises(NotFound, match="no active agent"):
        await bureau.hire()
    assert await bureau.create() == item
    assert await bureau.tracker.agent(bureau.bot)
    await bureau.hire()


async def test_without_a_way_to_make_tokens_none_is_made(bureau: Bureau) -> None:
    """At a real Polarion an administrator makes them."""
    await PolarionHiring(bureau.client, "AGENTS", None).create_agent(bureau.agent())
    assert bureau.store.rows == {}
    assert await bureau.tracker.agent(bureau.bot)


async def test_hiring_makes_what_it_needs(bureau: Bureau) -> None:
    """The project, the supervisor, both roles, and the link to the agent."""
    agent = await bureau.create()
    item = await bureau.hire(supervisor=f"boss-{bureau.number}")
    read = await bureau.engagement(item)
    assert (read.project, read.bot) == (bureau.project, bureau.bot)
    assert (read.supervisor, read.budget_usd) == (f"boss-{bureau.number}", Decimal(5))
    assert (read.grants, read.active) == (GRANTS, True)
    assert await bureau.roles(read.supervisor) == {(bureau.project, "project_assignable")}
    assert await bureau.roles(bureau.bot) == {
        ("AGENTS", "agent_reader"),
        (bureau.project, "agent"),
    }
    links = [(one.role, one.target) for one in await bureau.client.links.of(item)]
    assert links == [("engages", agent)]


async def test_hiring_twice_brings_the_engagement_up_to_date(bureau: Bureau) -> None:
    """What was spent stays; roles are added to those that there are."""
    await bureau.create()
    first = await bureau.hire()
    await bureau.tracker.spent(first, Decimal(2))
    await bureau.client.users.change_project_roles("lead", add=[(bureau.project, "project_admin")])
    again = await bureau.hire(supervisor="other", budget=7, grants=Grants())
    assert again == first
    read = await bureau.engagement(first)
    assert (read.supervisor, read.budget_usd, read.spent_usd) == ("other", Decimal(7), Decimal(2))
    assert read.grants == Grants()
    assert len(await bureau.found("engagement", "agentBot")) == 1
    assert len(await bureau.client.links.of(first)) == 1
    roles = await bureau.roles("lead")
    assert {(bureau.project, "project_admin"), (bureau.project, "project_assignable")} <= roles


async def test_what_may_be_reached_is_kept_until_something_else_is_said(bureau: Bureau) -> None:
    await bureau.create(egress="presets: [docs]")
    await bureau.create()
    agent = await bureau.tracker.agent(bureau.bot)
    assert agent
    assert agent.egress == Policy(presets=("docs",))
    item = await bureau.hire(egress="presets: [pypi]")
    await bureau.hire()
    assert (await bureau.engagement(item)).egress == Policy(presets=("pypi",))
    await bureau.hire(egress="")
    assert (await bureau.engagement(item)).egress == Policy()


async def test_what_is_asked_of_pushes_is_kept_until_something_else_is_said(
    bureau: Bureau,
) -> None:
    await bureau.create()
    item = await bureau.hire(pushes="modes: {gate-path: deny}  # no CI")
    await bureau.hire()
    asked = Demand(modes={"gate-path": Mode.DENY})
    assert (await bureau.engagement(item)).pushes == asked
    await bureau.hire(pushes="modes: {no-such: deny}")
    assert isinstance((await bureau.engagement(item)).pushes, Unreadable)
    await bureau.hire(pushes="")
    assert (await bureau.engagement(item)).pushes == Demand()


async def test_whoever_was_let_go_is_hired_anew(bureau: Bureau) -> None:
    """A new engagement: the old one's account stays as it was."""
    await bureau.create()
    first = await bureau.hire()
    await bureau.tracker.spent(first, Decimal(5))
    await bureau.client.items.update(first, workflow_action="end")
    second = await bureau.hire()
    assert second != first
    assert not (await bureau.engagement(first)).active
    assert (await bureau.engagement(second)).left_usd == 5


async def test_an_agent_approves_no_agents_work(bureau: Bureau) -> None:
    """As a supervisor its user would be given the role that may approve."""
    await bureau.create()
    with pytest.raises(Conflict, match="must be a person"):
        await bureau.hire(supervisor=bureau.bot)


async def test_nobody_is_hired_into_the_pool(bureau: Bureau) -> None:
    """There an agent's user could write what other agents are told."""
    await bureau.create()
    with pytest.raises(Conflict, match="not into it"):
        await bureau.hiring.hire(
            bureau.bot, "AGENTS", supervisor="lead", budget_usd=Decimal(1), grants=GRANTS
        )


async def test_nobody_hires_an_agent_that_there_is_not(bureau: Bureau) -> None:
    with pytest.raises(NotFound, match=f"no active agent with the bot user {bureau.bot}"):
        await bureau.hire()
    with pytest.raises(NotFound):
        await bureau.client.projects.get(bureau.project)


@pytest.mark.parametrize(
    "value", ["*", "bot-*", 'x" OR botUser:"{bot}', "x OR NOT type:x", "\\", '"']
)
async def test_a_value_that_looks_like_a_query_finds_nobody(bureau: Bureau, value: str) -> None:
    """Somebody wrote it into an engagement: it wakes no task and opens no memory of others."""
    await bureau.create()
    engagement = await bureau.hire()
    client, odd = bureau.client, value.replace("{bot}", bureau.bot)
    await client.items.create(bureau.project, NewItem("task", "T", assignees=[bureau.bot]))
    learned = NewItem("memory", "M", status="active", custom={"agentBot": bureau.bot})
    await client.items.create(bureau.project, learned)
    assert len(await bureau.tracker.memories(bureau.project, bureau.bot)) == 1
    await client.items.update(engagement, custom={"agentBot": odd})
    read = await bureau.engagement(engagement)
    assert read.bot == odd
    assert await bureau.tracker.waking([read]) == []
    assert await bureau.tracker.agent(odd) is None
    assert await bureau.tracker.memories(bureau.project, odd) == []


async def test_more_bots_than_fit_into_an_address_are_all_asked_for(bureau: Bureau) -> None:
    await bureau.create()
    mine = await bureau.engagement(await bureau.hire())
    task = await bureau.client.items.create(
        bureau.project, NewItem("task", "T", assignees=[bureau.bot])
    )
    others = [replace(mine, bot=f"{n:03}-{'x' * 60}") for n in range(200)]
    waking = await bureau.tracker.waking([*others, mine])
    assert [one.id for one in waking] == [task]


async def test_a_task_is_created_assigned_or_not(bureau: Bureau) -> None:
    await bureau.create()
    await bureau.hire()
    repository = "https://git.example/a/b"
    for assignee in (bureau.bot, None):
        new = NewTask(bureau.project, "T", "Do <it>.", repository, "next", assignee)
        task = await bureau.hiring.create_task(new)
        item = await bureau.client.items.get(task)
        assert (item.type, item.title, item.status) == ("task", "T", "open")
        assert item.description == Text("Do <it>.")
        assert item.assignees == ((assignee,) if assignee else ())
        read = await bureau.tracker.task(task)
        assert read
        assert (read.repository, read.base_branch) == (repository, "next")


async def test_a_task_of_no_project_is_not_found(bureau: Bureau) -> None:
    with pytest.raises(NotFound, match="NOWHERE"):
        await bureau.hiring.create_task(NewTask("NOWHERE", "T", "", "", "main", None))
