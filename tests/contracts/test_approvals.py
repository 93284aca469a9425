"""What every `orchestrator.approvals.ports.ApprovalStore` promises: the fake, and PocketBase."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest

from entrance.errors import Conflict, NotFound, Unavailable
from entrance.git.receive_pack import MAX_UPDATES
from entrance.ports import Moved
from entrance.session import RunId, TaskId
from orchestrator.adapters.pocketbase.approvals import PocketBaseApprovals
from orchestrator.approvals.ports import ApprovalStore
from orchestrator.domain.access import Edits, granted_of, rule_of, wanted, wanted_json
from orchestrator.domain.approval import (
    IN_FORCE,
    Approval,
    ApprovalState,
    Scope,
    Verb,
    Verdict,
)
from orchestrator.domain.kinds import PUSH, decided, moved_on
from orchestrator.domain.push import wanted_json as wanted_push
from orchestrator.domain.push import wanted_of
from tests.fakes.approvals import ITEM, FakeApprovals
from tests.fakes.clock import START
from tests.fakes.pushes import ZERO, a_push
from tests.fakes.run import a_run
from tests.servers.pocketbase import pocketbase_server

WANTED = wanted("https://a.example/x?y=ü".replace("ü", "%C3%BC"), "GET")
FULL = replace(
    ITEM, wanted=wanted_json(WANTED), title=WANTED.title, why="für die Doku",
    cause={"step": 3, "tool": "Bash"},
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Kept:
    """A store under test, and what takes it down."""

    items: ApprovalStore
    take_down: Callable[[], None]


@pytest.fixture(params=["fake", "pocketbase"])
async def kept(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Kept]:
    if request.param == "fake":
        fake = FakeApprovals()
        yield Kept(fake, lambda: setattr(fake, "down", True))
        return
    with pocketbase_server(tmp_path) as server:
        async with server.client() as store:
            yield Kept(PocketBaseApprovals(store), server.stop)


@pytest.fixture
def items(kept: Kept) -> ApprovalStore:
    return kept.items


def numbered(number: int, state: ApprovalState = ApprovalState.WAITING) -> Approval:
    at = START + timedelta(minutes=number)
    return replace(FULL, id=f"{number:015d}", state=state, asked_at=at)


async def test_an_item_comes_back_as_it_was_made(items: ApprovalStore) -> None:
    await items.create(FULL)
    assert await items.get(FULL.id) == FULL
    with pytest.raises(Conflict):
        await items.create(replace(FULL, why="another"))
    with pytest.raises(NotFound):
        await items.get("b" * 15)


async def test_a_decided_item_comes_back_whole(items: ApprovalStore) -> None:
    await items.create(FULL)
    rule = rule_of(FULL.id, WANTED, Edits())
    verdict = Verdict(
        Verb.RULE, "lead", START, "fine", granted_of(rule), "", Scope("agent", "bot-rex"),
        START + timedelta(days=2),
    )  # fmt: skip
    after = decided(FULL, verdict)
    await items.replace(after)
    assert await items.get(FULL.id) == after


async def test_of_two_who_decide_at_once_one_has_decided(items: ApprovalStore) -> None:
    await items.create(FULL)
    both = [
        decided(FULL, Verdict(verb, who, START))
        for verb, who in ((Verb.DENY, "lead"), (Verb.RUN, "boss"))
    ]
    results = await asyncio.gather(*map(items.replace, both), return_exceptions=True)
    assert [type(one) for one in results if one] == [Conflict]
    assert await items.get(FULL.id) in both


async def test_the_newest_come_first_and_a_states_only(items: ApprovalStore) -> None:
    states = (ApprovalState.WAITING, ApprovalState.DENIED, ApprovalState.WAITING)
    for number, state in enumerate(states):
        await items.create(numbered(number, state))
    assert [one.id for one in await items.listed(None, 2)] == [f"{n:015d}" for n in (2, 1)]
    waiting = await items.listed(ApprovalState.WAITING, 10)
    assert [one.id for one in waiting] == [f"{n:015d}" for n in (2, 0)]


async def test_only_what_opens_something_is_in_force(items: ApprovalStore) -> None:
    for number, state in enumerate(ApprovalState):
        await items.create(numbered(number, state))
    assert {one.state for one in await items.in_force()} == IN_FORCE


async def test_items_are_found_by_their_run_and_their_task(items: ApprovalStore) -> None:
    strange = TaskId("WEB/' || task != '")
    await items.create(FULL)
    await items.create(replace(numbered(1), run=RunId("run2")))
    await items.create(replace(numbered(2), task=strange))
    assert {one.id for one in await items.of_run(RunId("run1"))} == {FULL.id, f"{2:015d}"}
    assert {one.id for one in await items.of_task(FULL.task)} == {FULL.id, f"{1:015d}"}
    assert [one.id for one in await items.of_task(strange)] == [f"{2:015d}"]


async def test_a_store_that_is_down_is_unavailable(kept: Kept) -> None:
    kept.take_down()
    for call in (
        kept.items.create(FULL), kept.items.get(FULL.id), kept.items.replace(FULL),
        kept.items.in_force(), kept.items.listed(None, 1), kept.items.of_run(FULL.run),
    ):  # fmt: skip
        with pytest.raises(Unavailable):
            await call


async def test_a_held_push_comes_back_whole_and_of_two_who_claim_it_one_has(
    items: ApprovalStore,
) -> None:
    wanted = wanted_push(wanted_of(a_push(a_run())))
    held = replace(ITEM, kind=PUSH, wanted=wanted, title="push a to b", cause={"tool": "Bash"})
    await items.create(held)
    allowed = decided(held, Verdict(Verb.ONCE, "lead", START, "", {"sha256": "a" * 64}))
    await items.replace(allowed)
    assert [one.id for one in await items.listed(ApprovalState.ALLOWED, 10)] == [held.id]
    both = [
        moved_on(allowed, Verb.CLAIM, {"decision": number, "sent_at": START.isoformat()})
        for number in (7, 8)
    ]
    results = await asyncio.gather(*map(items.replace, both), return_exceptions=True)
    assert [type(one) for one in results if one] == [Conflict]
    claimed = await items.get(held.id)
    assert claimed in both
    over = moved_on(claimed, Verb.ARRIVE, {**claimed.came, "detail": {"refs": {"a": "ok"}}})
    await items.replace(over)
    assert await items.get(held.id) == over


async def test_the_largest_held_push_that_there_can_be_is_kept_whole(items: ApprovalStore) -> None:
    moved = tuple(
        Moved(f"refs/heads/agent/X-1/{number:0170d}", ZERO, f"{number:064x}")
        for number in range(MAX_UPDATES)
    )
    push = a_push(
        a_run(),
        moved=moved,
        commits=tuple(f"{number:064x}" for number in range(10_000)),
        reasons=tuple("\N{SNOWMAN}" * 10_000 for _ in range(1000)),
    )
    held = replace(ITEM, kind=PUSH, wanted=wanted_push(wanted_of(push)))
    await items.create(held)
    assert await items.get(held.id) == held
