"""Agents, engagements, tasks and secrets: what people set up before anything runs."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from entrance.errors import NotFound, Unavailable
from entrance.tool_policy import ConnectionRules
from entrance.vault.vault import Vault
from orchestrator.api.shapes import BadInput, GrantedRepository, Hire, NewSecret, NewTask, body_of
from orchestrator.api.shapes import NewAgent as NewAgentBody
from orchestrator.domain.grants import door_name
from orchestrator.domain.hosting import hosting_of
from orchestrator.domain.team import Agent, Engagement, Grants, Repository
from orchestrator.domain.tool_grants import ConnectionForm, rules_json
from orchestrator.ports import Hiring, NewAgent, Tracker
from orchestrator.ports import NewTask as WantedTask

POLARION = "polarion"


async def _none(_agent: str, _project: str) -> Sequence[str]:
    return ()


@dataclass(frozen=True, slots=True)
class TeamRoutes:
    """The routes below `/api` that set a team up."""

    hiring: Hiring
    tracker: Tracker
    vault: Vault
    tools: frozenset[str]
    """The Polarion tools that there are."""
    harnesses: frozenset[str]
    unspoken: Callable[[str, str], str]
    """Why a harness can't talk to a model, as a sentence; empty when it can."""
    wake: Callable[[str], None]
    """Queues a task at once, so that nobody waits for the next poll."""
    standing: Callable[[str, str], Awaitable[Sequence[str]]] = _none
    """The standing rules that an agent's runs in a project have, from earlier engagements, too."""

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post("/api/agents", self.create_agent),
            web.get("/api/engagements", self.engagements),
            web.post("/api/engagements", self.hire),
            web.post("/api/tasks", self.create_task),
            web.get("/api/secrets", self.secrets),
            web.put("/api/secrets/{name}", self.set_secret),
            web.delete("/api/secrets/{name}", self.delete_secret),
        ]

    async def create_agent(self, request: web.Request) -> web.Response:
        """Make an agent and its bot user, or bring them up to date. Answers `{id, bot}`."""
        body = await body_of(request, NewAgentBody)
        if body.harness not in self.harnesses:
            known = ", ".join(sorted(self.harnesses))
            raise BadInput(f"harness: {body.harness} is unknown; there is {known}")
        if trouble := self.unspoken(body.harness, body.model):
            raise BadInput(f"model: {trouble}")
        agent = NewAgent(
            name=body.name,
            title=body.title or body.name,
            model=body.model,
            harness=body.harness,
            instructions=body.instructions,
            egress=body.egress,
        )
        item = await self.hiring.create_agent(agent)
        return web.json_response({"id": item, "bot": agent.bot}, status=201)

    async def engagements(self, _request: web.Request) -> web.Response:
        """Who is hired where: `[{id, project, agent, supervisor, budget_usd, spent_usd, tools}]`."""
        found = await self.tracker.engagements()
        return web.json_response([_hired_json(one) for one in found])

    async def hire(self, request: web.Request) -> web.Response:
        """Hire an agent into a project, or bring its engagement up to date. Answers `{id, bot, standing}`.

        `standing`: the ids of the standing rules that it has there, also from when it was hired before.
        """
        body = await body_of(request, Hire)
        bot = f"bot-{body.agent}"
        agent = await self.tracker.agent(bot)
        if agent is None:
            raise NotFound(
                f"there is no agent {body.agent!r}: `sandgate agent create {body.agent}`"
            )
        item = await self.hiring.hire(
            bot,
            body.project,
            supervisor=body.supervisor,
            budget_usd=body.budget_usd,
            grants=await self._grants(body, agent),
            egress=body.egress,
            pushes=body.pushes,
        )
        standing = await self._standing(bot, body.project)
        return web.json_response({"id": item, "bot": bot, "standing": standing}, status=201)

    async def create_task(self, request: web.Request) -> web.Response:
        """Create a task; assigned to a hired agent, it is run at once. Answers `{id}`."""
        body = await body_of(request, NewTask)
        if body.repository:
            _checked(body.repository)
        if body.assign:
            await self._require_hired(body.assign, body.project)
        task = await self.hiring.create_task(
            WantedTask(
                project=body.project,
                title=body.title,
                description=body.description,
                repository=body.repository,
                base_branch=body.base_branch,
                assignee=f"bot-{body.assign}" if body.assign else None,
            )
        )
        self.wake(task)
        return web.json_response({"id": task}, status=201)

    async def secrets(self, _request: web.Request) -> web.Response:
        """`[{name, version, kind, hosts}]`: names, uses and hosts; never a value."""
        return web.json_response(
            [
                {
                    "name": info.name,
                    "version": info.version,
                    "kind": info.binding.scheme,
                    "hosts": list(info.binding.hosts),
                }
                for info in await self.vault.listed()
            ]
        )

    async def set_secret(self, request: web.Request) -> web.Response:
        """Seal a secret, or a new value of one. Answers `{name, version}`."""
        body = await body_of(request, NewSecret)
        try:
            info = await self.vault.put(
                request.match_info["name"],
                body.value.get_secret_value(),
                body.hosts,
                body.kind,
                issuer=body.issuer,
                scopes=body.scopes,
            )
        except ValueError as error:
            raise BadInput(str(error)) from error
        return web.json_response({"name": info.name, "version": info.version}, status=201)

    async def delete_secret(self, request: web.Request) -> web.Response:
        """Forget a secret."""
        await self.vault.delete(request.match_info["name"])
        return web.Response(status=204)

    async def _standing(self, bot: str, project: str) -> list[str]:
        """None of them is known while the store is away; hired it is all the same."""
        try:
            return list(await self.standing(bot, project))
        except Unavailable:
            return []

    async def _require_sealed(self, repositories: Sequence[GrantedRepository]) -> None:
        """A credential that isn't there would only come out when the first run can't clone."""
        wanted = {one.credential for one in repositories if one.credential is not None}
        if unknown := sorted(wanted - set(await self.vault.names())):
            raise BadInput(
                f"credential: there is no secret {unknown[0]!r}: "
                f"`sandgate secret set {unknown[0]} ...`"
            )

    async def _require_hired(self, agent: str, project: str) -> None:
        """A task that nobody may run would only lie there."""
        hired = {(each.bot, each.project) for each in await self.tracker.engagements()}
        if (f"bot-{agent}", project) not in hired:
            raise BadInput(
                f"assign: {agent} is not hired into {project}: `sandgate hire {agent} ...`"
            )

    async def _grants(self, body: Hire, agent: Agent) -> Grants:
        await self._require_sealed(body.repositories)
        tools, rules = self._tools(body)
        return Grants(
            tools=tools,
            repositories=tuple(_repository(wanted) for wanted in body.repositories),
            models=frozenset({agent.model}),
            tool_rules=rules,
        )

    def _tools(self, body: Hire) -> tuple[dict[str, frozenset[str]], dict[str, ConnectionRules]]:
        """Those that are lists, and those of which more is said."""
        if body.tools is None:
            return {POLARION: self.tools}, {}
        given = {POLARION: body.tools} if isinstance(body.tools, list) else body.tools
        lists = {name: frozenset(one) for name, one in given.items() if isinstance(one, list)}
        rules = {name: one.read() for name, one in given.items() if isinstance(one, ConnectionForm)}
        named = lists.get(POLARION, frozenset())
        if POLARION in rules:
            named |= frozenset(rules[POLARION].tools)
        if unknown := named - self.tools:
            raise BadInput(f"tools: there is no {', '.join(sorted(unknown))}")
        return lists, rules


def _hired_json(one: Engagement) -> dict[str, Any]:
    tools: dict[str, Any] = {name: sorted(tools) for name, tools in one.grants.tools.items()}
    return {
        "id": one.id,
        "project": one.project,
        "agent": one.bot.removeprefix("bot-"),
        "supervisor": one.supervisor,
        "budget_usd": str(one.budget_usd),
        "spent_usd": str(one.spent_usd),
        "tools": tools | {name: rules_json(rules) for name, rules in one.grants.tool_rules.items()},
    }


def _repository(wanted: GrantedRepository) -> Repository:
    _checked(wanted.url)
    found = Repository(**wanted.model_dump())
    try:
        hosting_of(found)
    except ValueError as error:
        raise BadInput(f"repository: {error}") from error
    return found


def _checked(url: str) -> None:
    try:
        door_name(url)
    except ValueError as error:
        raise BadInput(f"repository: {error}") from error
