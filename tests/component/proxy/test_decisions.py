"""What people decide reaches a sandbox through the real proxy, and nothing beside it does."""

from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from entrance.session import RunId, Session, hash_token
from orchestrator.adapters.egress_files import PolicyFiles
from orchestrator.approvals.deciding import Deciding
from orchestrator.approvals.handling import Decision, EgressHandling
from orchestrator.domain.access import Edits
from orchestrator.domain.approval import Verb
from orchestrator.domain.egress import Policy
from orchestrator.domain.egress_compile import Layer
from orchestrator.domain.kinds import EGRESS
from orchestrator.domain.run import Run, RunState
from orchestrator.egress_policy import EgressPolicy
from proxy.policy import Mode, Rule
from tests.fakes.approvals import Inbox
from tests.fakes.egress import FakeSources
from tests.fakes.run import a_run
from tests.fakes.world import FakeWorld
from tests.servers.asking import Answer, ask, connect, line
from tests.servers.egress import ALLOWED, PORT, PROXY, SANDBOX, TOKEN, Egress

pytestmark = pytest.mark.asyncio(loop_scope="module")
HOLDING = Rule(name="ask", host=ALLOWED, mode=Mode.HOLD)


class House:
    """The runner's side: a policy that the running proxy reads, an inbox, and one sandbox."""

    def __init__(self, world: Egress, folder: Path) -> None:
        self.world, self.fakes = world, FakeWorld(folder)
        self.inbox = Inbox(self.fakes)
        self.policy = EgressPolicy(
            sessions=self.fakes.door.sessions,
            runs=self.fakes.runs,
            approvals=self.inbox.store,
            claim=self.inbox.keeping.claim,
            sources=FakeSources(),
            files=PolicyFiles(world.folder / "policy.json", world.folder / "state/status.json"),
            clock=self.fakes.clock,
            door=(PROXY, PORT),
        )

    @property
    def deciding(self) -> Deciding:
        return replace(self.inbox.deciding, handlings={EGRESS: EgressHandling(self.policy.apply)})

    async def run(self, *rules: Rule) -> Run:
        """A run whose sandbox is let out."""
        layers = (Layer("engagement", Policy(rules=rules)),)
        run = a_run(state=RunState.RUNNING, egress=layers)
        session = Session(run.id, run.task, "DEMO", run.agent, SANDBOX, hash_token(TOKEN))
        for old in self.fakes.door.open_runs():
            self.fakes.door.close(old)
        run = replace(run, session=session)
        await self.fakes.runs.create(run)
        self.fakes.door.open(session)
        assert await self.policy.admit(run) == ()
        return run

    async def get(self, target: str) -> Answer:
        """What a GET over https is answered."""
        inner = line("GET", target, host=ALLOWED)
        return await ask(self.world, connect(f"{ALLOWED}:443"), inner, sni=ALLOWED)

    async def decide(self, run: RunId, target: str, decision: Decision) -> str:
        item = await self.inbox.asking.ask(run, f"https://{ALLOWED}{target}", "GET", "x")
        done = await self.deciding.decide(item.id, decision)
        assert done.in_force
        return item.id


@pytest_asyncio.fixture(loop_scope="module")
async def house(world: Egress, tmp_path: Path) -> House:
    return House(world, tmp_path)


async def test_what_is_allowed_once_is_sent_once_and_it_alone(house: House) -> None:
    run = await house.run()
    refused = await house.get("/e?x=1")
    assert refused.status == 403
    assert b"request_access" in refused.body
    await house.decide(run.id, "/e?x=1", Decision(Verb.ONCE, "lead"))
    assert (await house.get("/e?x=2")).status == 403
    assert (await house.get("/other?x=1")).status == 403
    assert (await house.get("/e?x=1")).status == 200
    assert (await house.get("/e?x=1")).status == 403
    assert len(house.world.origin.hits) == 1


async def test_what_a_rule_holds_is_held_until_a_person_has_decided(house: House) -> None:
    run = await house.run(Rule(name="all", host=ALLOWED), HOLDING)
    assert (await house.get("/e")).status == 403
    (held,) = [one for one in house.world.log.decided if one["decision"] == "hold"]
    item = await house.inbox.asking.held(run.id, held["url"], held["method"], {})
    assert (item.title, house.world.origin.hits) == (f"GET https://{ALLOWED}/e", [])
    await house.deciding.decide(item.id, Decision(Verb.RUN, "lead"))
    for _ in range(2):
        assert (await house.get("/e")).status == 200
    assert (await house.get("/e/more")).status == 403


async def test_a_standing_rule_that_is_revoked_is_closed_at_once(house: House) -> None:
    run = await house.run()
    edits = Edits(paths=("/e/**",))
    item = await house.decide(run.id, "/e", Decision(Verb.RULE, "lead", edits=edits))
    assert (await house.get("/e/1")).status == 200
    await house.deciding.decide(item, Decision(Verb.REVOKE, "lead"))
    assert (await house.get("/e/1")).status == 403
    assert len(house.world.origin.hits) == 1


async def test_a_run_that_is_over_reaches_nothing(house: House) -> None:
    run = await house.run(Rule(name="all", host=ALLOWED))
    assert (await house.get("/e")).status == 200
    house.fakes.door.close(run.id)
    assert await house.policy.apply()
    assert (await house.get("/e")).status == 403
    assert len(house.world.origin.hits) == 1
