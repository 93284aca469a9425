"""The policy of all sandboxes, for the proxy."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from entrance.errors import Unavailable
from entrance.session import RunId, Session, TaskId
from orchestrator.approvals.handling import Decision, EgressHandling
from orchestrator.domain.approval import Verb
from orchestrator.domain.egress import Ground, Policy, Unreadable
from orchestrator.domain.egress_compile import Layer
from orchestrator.domain.kinds import EGRESS
from orchestrator.domain.presets import Registry, place_of
from orchestrator.domain.run import Run, RunState
from orchestrator.domain.sandbox_trust import TRUST
from orchestrator.egress_policy import EgressPolicy, ServerPolicies
from proxy.policy import Mode, Rule, SandboxPolicy
from tests.fakes.approvals import Inbox
from tests.fakes.egress import FakeProxy, FakeSources, answer
from tests.fakes.run import a_run
from tests.fakes.world import FakeWorld
from tests.waiting import until

A = Rule(name="a", host="a.example")
URL = "https://a.example/"


class House:
    """An egress policy over fakes."""

    def __init__(self, folder: Path) -> None:
        self.fakes = FakeWorld(folder)
        self.inbox = Inbox(self.fakes)
        self.sources, self.proxy = FakeSources(), FakeProxy()
        self.policy = self.fresh()

    def fresh(self, patience_s: float = 0.1) -> EgressPolicy:
        """As after a start of the process."""
        return EgressPolicy(
            sessions=self.fakes.door.sessions,
            runs=self.fakes.runs,
            approvals=self.inbox.store,
            claim=self.inbox.keeping.claim,
            sources=self.sources,
            files=self.proxy,
            clock=self.fakes.clock,
            door=("10.9.9.1", 8081),
            patience_s=patience_s,
        )

    async def open(self, *rules: Rule, number: int = 2, presets: tuple[str, ...] = ()) -> Run:
        """A run whose session is open at the door."""
        run = a_run(state=RunState.RUNNING, egress=(Layer("engagement", Policy(presets, rules)),))
        session = Session(run.id, run.task, "DEMO", run.agent, f"10.0.0.{number}", f"{number:064x}")
        run = replace(run, session=session)
        await self.fakes.runs.create(run)
        self.fakes.door.open(session)
        return run

    def answer(self, run: Run, url: str = URL) -> str:
        """What the proxy would answer; `nobody` when it doesn't know the run."""
        there = self.proxy.sandbox_of(run.id)
        return answer(there.rules, url) if there else "nobody"


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


async def test_what_a_run_may_reach_is_in_force_once_it_is_admitted(house: House) -> None:
    run = await house.open(A)
    assert await house.policy.admit(run) == ()
    assert house.answer(run) == "allow"
    assert house.answer(run, "https://b.example/") == "deny"
    assert house.proxy.applied() == 1
    there = house.proxy.sandbox_of(run.id)
    assert there
    assert run.session
    assert (there.address, there.token_sha256) == (run.session.address, run.session.token_sha256)


async def test_a_proxy_that_does_not_take_the_policy_up_keeps_the_run_from_starting(
    house: House,
) -> None:
    house.proxy.deaf = True
    run = await house.open(A)
    with pytest.raises(Unavailable, match="did not take up"):
        await house.policy.admit(run)
    assert not await house.policy.apply()


async def test_an_installations_policy_that_can_not_be_read_closes_everything(house: House) -> None:
    run = await house.open(A)
    await house.policy.admit(run)
    house.sources.says = Unreadable("policy.yaml, line 3: no")
    with pytest.raises(Unavailable, match="line 3"):
        await house.policy.admit(run)
    assert house.policy.closed
    assert house.answer(run) == "nobody"
    house.sources.says = Ground()
    assert await house.policy.apply()
    assert (house.policy.closed, house.answer(run)) == ("", "allow")


async def test_a_closed_session_is_out_of_the_policy(house: House) -> None:
    run, other = await house.open(A), await house.open(A, number=3)
    await house.policy.apply()
    house.fakes.door.close(run.id)
    await house.policy.apply()
    assert (house.answer(run), house.answer(other)) == ("nobody", "allow")


async def test_it_is_written_only_when_something_has_changed(house: House) -> None:
    run = await house.open(A)
    await house.policy.admit(run)
    await house.policy.apply()
    assert house.proxy.writes == 1
    await house.open(A, number=3)
    await house.policy.apply()
    assert (house.proxy.writes, house.proxy.applied()) == (2, 2)


async def test_a_restart_goes_on_counting_and_repairs_what_is_wrong(house: House) -> None:
    run = await house.open(A)
    await house.policy.admit(run)
    again = house.fresh()
    await again.apply()
    assert house.proxy.writes == 1
    assert house.proxy.policy
    house.proxy.policy = replace(house.proxy.policy, sandboxes=(), generation=41)
    await again.apply()
    assert (house.answer(run), house.proxy.applied()) == ("allow", 42)


async def test_what_people_allow_reaches_a_live_run(house: House) -> None:
    run = await house.open()
    await house.policy.admit(run)
    item = await house.inbox.asking.ask(run.id, URL, "GET", "x")
    deciding = replace(house.inbox.deciding, handlings={EGRESS: EgressHandling(house.policy.apply)})
    decision = Decision(Verb.RULE, "lead")
    assert (await deciding.decide(item.id, decision)).in_force
    assert house.answer(run) == "allow"
    await deciding.decide(item.id, Decision(Verb.REVOKE, "lead"))
    assert house.answer(run) == "deny"


async def test_what_is_allowed_to_one_run_is_not_allowed_to_another(house: House) -> None:
    run, other = await house.open(), await house.open(number=3)
    item = await house.inbox.asking.ask(run.id, URL, "GET", "x")
    await house.inbox.deciding.decide(item.id, Decision(Verb.RUN, "lead"))
    await house.policy.apply()
    assert (house.answer(run), house.answer(other)) == ("allow", "deny")


async def test_a_rules_day_comes_without_anybody_saying_so(house: House) -> None:
    run = await house.open()
    item = await house.inbox.asking.ask(run.id, URL, "GET", "x")
    until = house.fakes.clock.advance(60)
    house.fakes.clock.advance(-60)
    await house.inbox.deciding.decide(item.id, Decision(Verb.RULE, "lead", until=until))
    await house.policy.apply()
    assert house.answer(run) == "allow"
    house.fakes.clock.advance(60)
    await house.policy.apply()
    assert house.answer(run) == "deny"


async def test_an_address_is_its_newest_sandboxs_and_one_that_is_none_stops_nobody(
    house: House,
) -> None:
    gone, fresh = await house.open(A), a_run(state=RunState.RUNNING)
    again = Session(fresh.id, fresh.task, "DEMO", fresh.agent, "10.0.0.2", "f" * 64)
    strange = Session(RunId("strange"), fresh.task, "DEMO", "bot", "no address", "e" * 64)
    for session in (again, strange):
        run = replace(a_run(), id=session.run, session=session, state=RunState.RUNNING)
        await house.fakes.runs.create(run)
        house.fakes.door.open(session)
    assert await house.policy.apply()
    assert (house.answer(gone), house.answer(fresh)) == ("nobody", "deny")
    assert house.proxy.policy
    assert len(house.proxy.policy.sandboxes) == 1


async def test_a_run_that_nobody_knows_reaches_nothing(house: House) -> None:
    session = Session(a_run().id, a_run().task, "DEMO", "bot", "10.0.0.2", "0" * 64)
    house.fakes.door.open(session)
    await house.policy.apply()
    assert house.proxy.policy
    assert house.proxy.policy.sandboxes == ()


async def test_a_store_that_is_down_lets_nothing_new_start(house: House) -> None:
    run = await house.open(A)
    house.inbox.store.down = True
    with pytest.raises(Unavailable):
        await house.policy.admit(run)
    assert not await house.policy.apply()


async def test_what_is_not_there_is_said_and_packages_are_led_to_their_registry(
    house: House,
) -> None:
    run = await house.open(presets=("pypi", "npm"))
    url = "https://mirror.example/simple"
    house.sources.registries = {"python": Registry(url, (place_of(url),))}
    (missing,) = await house.policy.admit(run)
    assert "npm is not available" in missing
    variables = house.policy.environment(run)
    assert variables == {**TRUST, "PIP_INDEX_URL": url, "UV_DEFAULT_INDEX": url}
    assert house.policy.way_out("a-token")["https_proxy"] == "http://run:a-token@10.9.9.1:8081"


async def test_it_is_written_as_soon_as_somebody_says_that_something_has_changed(
    house: House,
) -> None:
    async with asyncio.TaskGroup() as tasks:
        loop = tasks.create_task(house.policy.run())
        await until(lambda: house.proxy.writes == 1)
        run = await house.open(A)
        house.policy.changed()
        await until(lambda: house.answer(run) == "allow")
        house.inbox.store.down = True
        house.fakes.door.close(run.id)
        house.policy.changed()
        await asyncio.sleep(0)
        house.inbox.store.down = False
        house.policy.changed()
        await until(lambda: house.answer(run) == "nobody")
        loop.cancel()
    assert house.proxy.writes == 3


async def test_what_people_write_for_the_installation_counts_once_they_have_saved_it(
    house: House,
) -> None:
    run = await house.open()
    async with asyncio.TaskGroup() as tasks:
        loop = tasks.create_task(house.policy.run())
        await until(lambda: house.answer(run) == "deny")
        house.sources.says = Ground(Policy(rules=(A,)))
        await until(lambda: house.answer(run) == "allow")
        loop.cancel()
    assert house.answer(run, "https://b.example/") == "deny"


async def test_a_policy_that_was_lost_is_written_with_a_generation_that_the_proxy_never_had(
    house: House,
) -> None:
    """Else what is in force of old would be taken for the new one."""
    run = await house.open(A)
    house.proxy.taken, house.proxy.deaf = 57, True
    with pytest.raises(Unavailable, match="did not take up"):
        await house.policy.admit(run)
    house.proxy.deaf = False
    house.proxy.policy = None
    await house.policy.admit(run)
    assert house.proxy.applied() == 58


async def test_a_run_that_is_not_in_the_policy_is_not_admitted(house: House) -> None:
    run = await house.open(A)
    house.fakes.door.close(run.id)
    with pytest.raises(Unavailable, match="not in the egress policy"):
        await house.policy.admit(run)


async def test_doctor_says_which_policy_is_wanted_and_which_is_in_force(house: House) -> None:
    await house.open(A)
    await house.policy.apply()
    assert await house.policy.check() == "policy 1 is wanted and in force"
    house.proxy.deaf = True
    await house.open(A, number=3)
    await house.policy.apply()
    with pytest.raises(Unavailable, match="policy 2 is wanted, but 1 in force"):
        await house.policy.check()
    house.sources.says = Unreadable("policy.yaml, line 2: no")
    await house.policy.apply()
    with pytest.raises(Unavailable, match="line 2"):
        await house.policy.check()


async def test_sandboxes_of_no_run_are_in_it_as_they_are_given(house: House) -> None:
    """Those that the posture's battery tries: nobody is asked about their runs."""
    box = SandboxPolicy(run="posture-0", address="10.0.0.99", token_sha256="a" * 64)
    house.fakes.door.open(
        Session(
            RunId("posture-0"), TaskId("POSTURE/P-0"), "POSTURE", "posture", box.address, "a" * 64
        )
    )
    house.policy.others.append(lambda: [box])
    with capture_logs() as said:
        assert await house.policy.apply()
    assert house.proxy.sandbox_of(RunId("posture-0")) == box
    assert [line for line in said if line["event"] == "run_not_in_the_policy"] == []


def server_session(number: int = 7) -> Session:
    """Whose the sandbox of an MCP server is."""
    run = RunId("run-of-the-server")
    address = f"10.0.0.{number}"
    return Session(run, TaskId("D/D-1"), "D", "bot-rex", address, "b" * 64, server="memory")


async def test_a_servers_sandbox_has_its_own_policy_under_its_own_account(house: House) -> None:
    policies, account = ServerPolicies(house.policy), RunId("memory.run")
    run = await house.open(A)
    await policies.admit(account, server_session(), Policy(rules=(replace(A, host="b.example"),)))
    box = house.proxy.sandbox_of(account)
    assert box is not None
    assert (box.address, box.token_sha256) == ("10.0.0.7", "b" * 64)
    assert answer(box.rules, "https://b.example/") == "allow"
    assert answer(box.rules, URL) == "deny", "that is its agent's"
    assert house.answer(run, "https://b.example/") == "deny", "and that the server's"
    policies.forget("10.0.0.7")
    assert await house.policy.apply()
    assert house.proxy.sandbox_of(account) is None


async def test_nobody_is_asked_for_what_a_server_reaches(house: House) -> None:
    hold = replace(A, mode=Mode.HOLD)
    house.sources.says = Ground(Policy(rules=(hold,)))
    policies, account = ServerPolicies(house.policy), RunId("memory.run")
    await policies.admit(account, server_session(), Policy(rules=(A,)))
    box = house.proxy.sandbox_of(account)
    assert box is not None
    assert answer(box.rules, URL) == "deny"


async def test_a_server_is_not_let_out_while_the_policy_can_not_be_read(house: House) -> None:
    house.sources.says = Unreadable("egress.yaml, line 1: it is no policy")
    with pytest.raises(Unavailable, match="line 1"):
        await ServerPolicies(house.policy).admit(RunId("m.r"), server_session(), Policy())
