"""Standing rules outlive the operational state, and letting go: the record of them is in Polarion."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from entrance.session import RunId, Session
from orchestrator.adapters.polarion.resources import Text
from orchestrator.adapters.polarion.richtext import plain, rich
from orchestrator.adapters.polarion.rule_book import FIELD, PolarionRuleBook
from orchestrator.approvals.call_rules import CallRules
from orchestrator.approvals.feed import Feed, TellingStore
from orchestrator.approvals.rule_record import Recording, RuleBook, standing_for
from orchestrator.domain.approval import Approval, ApprovalState, Scope, Verb, Verdict
from orchestrator.domain.kinds import CALL_RULE, decided
from orchestrator.domain.rule_record import OnRecord
from orchestrator.domain.team import Engagement, Grants
from tests.component.polarion.office import Office, an_office
from tests.fakes.approvals import ITEM, FakeApprovals
from tests.fakes.clock import START
from tests.servers.polarion import PolarionServer
from tests.waiting import until


@pytest.fixture
async def office(server: PolarionServer, tmp_path: Path) -> AsyncIterator[Office]:
    async with an_office(server, tmp_path) as office:
        yield office


async def engagement(office: Office) -> Engagement:
    """Under which the agent is hired now."""
    hired = await office.tracker.engagements()
    return next(one for one in hired if (one.project, one.bot) == (office.project, office.rex))


async def a_rule(office: Office) -> Approval:
    now = await engagement(office)
    return replace(
        ITEM, id="r" * 15, kind=CALL_RULE, state=ApprovalState.STANDING, project=office.project,
        task=office.task, agent=office.rex, engagement=now.id, scope=Scope("engagement", now.id),
        wanted={"connection": "wiki", "tool": "write"}, decided_by="lead", decided_at=START,
        granted={"rule": {"const": {"page": "<Home> & so on"}}},
    )  # fmt: skip


def recording(office: Office, store: FakeApprovals, feed: Feed | None = None) -> Recording:
    rules = CallRules(store, office.world.clock)
    book = PolarionRuleBook(office.polarion.as_service())
    feed = feed or Feed("born")
    return Recording(TellingStore(store, feed), book, feed, rules.refresh)


async def on_record(office: Office, engagement: str) -> str:
    return plain(rich((await office.item(engagement)).custom, FIELD))


async def opens(office: Office, store: FakeApprovals, run: str) -> list[str]:
    """The rules that a run of the agent has under the engagement of now."""
    rules = CallRules(store, office.world.clock)
    await rules.refresh()
    hired = await engagement(office)
    session: Session = replace(office.session, run=RunId(run))
    found = rules.of(session)
    assert await standing_for(store, hired.bot, hired.project) == [one.id for one in found]
    return [one.id for one in found]


async def test_what_was_lost_is_put_back_though_the_agent_was_let_go_and_hired_again(
    office: Office,
) -> None:
    store, rule = FakeApprovals(), await a_rule(office)
    await store.create(rule)
    await recording(office, store).look()
    first = await engagement(office)
    assert rule.id in await on_record(office, first.id)
    lost = FakeApprovals()
    await office.admin.items.update(first.id, workflow_action="end")
    await office.hiring.hire(
        office.rex, office.project, supervisor="lead", budget_usd=Decimal(5), grants=Grants()
    )  # fmt: skip
    assert (await engagement(office)).id != first.id
    await recording(office, lost).look()
    assert lost.items == {rule.id: rule}
    assert await opens(office, lost, "a run of later") == [rule.id]


async def test_what_was_taken_back_is_off_the_record_and_stays_lost(office: Office) -> None:
    store, rule = FakeApprovals(), await a_rule(office)
    await store.create(rule)
    await recording(office, store).look()
    await store.replace(decided(rule, Verdict(Verb.REVOKE, "lead", START)))
    await recording(office, store).look()
    assert await on_record(office, rule.engagement) == ""
    lost = FakeApprovals()
    await recording(office, lost).look()
    assert not lost.items


@dataclass(frozen=True, slots=True)
class Telling:
    """A record that tells when it is written."""

    book: RuleBook
    written: list[str]

    async def recorded(self) -> Sequence[OnRecord]:
        return await self.book.recorded()

    async def write(self, engagement: str, text: str) -> None:
        await self.book.write(engagement, text)
        self.written.append(engagement)


async def test_a_change_is_on_record_at_once_and_an_outage_is_for_a_later_look(
    office: Office,
) -> None:
    store, feed, rule = FakeApprovals(), Feed("born"), await a_rule(office)
    keeping, written = recording(office, store, feed), list[str]()
    keeping = replace(keeping, book=Telling(keeping.book, written))
    store.down = True
    async with asyncio.TaskGroup() as tasks:
        loop = tasks.create_task(keeping.run())
        await until(lambda: store.refused > 0)
        store.down = False
        await keeping.store.create(rule)
        await until(lambda: rule.engagement in written)
        loop.cancel()
    assert rule.id in await on_record(office, rule.engagement)


@pytest.mark.parametrize("text", ["[", '[{"id": "x"}]'])
async def test_a_record_that_can_not_be_read_opens_nothing_is_said_once_and_left_alone(
    office: Office, text: str
) -> None:
    store, rule = FakeApprovals(), await a_rule(office)
    await store.create(rule)
    await office.admin.items.update(rule.engagement, custom={FIELD: Text(text)})
    keeping = recording(office, store)
    with capture_logs() as logged:
        await keeping.look()
        await keeping.look()
    said = [one for one in logged if one.get("engagement") == rule.engagement]
    assert [one["event"] for one in said] == ["standing_rules_unreadable"]
    assert await on_record(office, rule.engagement) == text
    assert list(store.items) == [rule.id]


async def test_what_somebody_wrote_there_for_another_opens_nothing(office: Office) -> None:
    rule = replace(await a_rule(office), agent="bot-other", scope=Scope("agent", "bot-other"))
    store = FakeApprovals()
    await store.create(rule)
    await recording(office, store).look()
    lost = FakeApprovals()
    await recording(office, lost).look()
    assert not lost.items
