"""What is written down of a find, and when the alarm is raised."""

from dataclasses import replace

import pytest

from entrance.decision import Allow, Deny
from entrance.errors import Unavailable
from entrance.honeytokens.canaries import DOTENV, canaries_of
from entrance.honeytokens.watch import RULE, Attempt, Watch, heard_at_the_proxy
from entrance.log.records import Decided, Request
from entrance.ports import Touched
from entrance.session import RunId, Session, TaskId
from tests.fakes.alarm import HONEY, FakeAlarm, canary
from tests.fakes.audit import FakeAudit

RUN = RunId("run-1")
SESSION = Session(
    run=RUN,
    task=TaskId("P/T-1"),
    project="P",
    agent="bot",
    address="10.0.0.2",
    token_sha256="0" * 64,
    honeytokens=(RUN, RunId("run-0")),
)
FOUND = next(one for one in canaries_of(HONEY, RUN) if one.name == "model-key")


@pytest.fixture
def audit() -> FakeAudit:
    return FakeAudit()


@pytest.fixture
def alarm() -> FakeAlarm:
    return FakeAlarm()


@pytest.fixture
def watch(audit: FakeAudit, alarm: FakeAlarm) -> Watch:
    return Watch(HONEY, audit, alarm)


async def test_a_find_is_recorded_and_the_alarm_raised(
    watch: Watch, audit: FakeAudit, alarm: FakeAlarm
) -> None:
    denied = await watch.refuse(SESSION, FOUND, "a pushed pack", Attempt("git_push", "host/x"))
    [record] = audit.decisions("git_push")
    assert (record.rule, record.decision, record.session) == (RULE, denied, SESSION)
    where = {"honeytoken": "model-key", "place": DOTENV, "where": "a pushed pack"}
    assert record.detail == where
    touched = Touched(RUN, SESSION.task, "model-key", DOTENV, "a pushed pack", "git", "host/x")
    assert alarm.touched == [touched]


async def test_what_is_written_down_never_has_the_value(
    watch: Watch, audit: FakeAudit, alarm: FakeAlarm
) -> None:
    subject = f"tool {FOUND.value}"
    await watch.refuse(SESSION, FOUND, "a message to a tool", Attempt("tool_call", subject))
    assert FOUND.secret not in str(audit.records)
    assert FOUND.secret not in str(alarm.touched)


async def test_the_alarm_is_raised_also_when_nothing_can_be_recorded(
    watch: Watch, audit: FakeAudit, alarm: FakeAlarm
) -> None:
    audit.down = True
    with pytest.raises(Unavailable):
        await watch.refuse(SESSION, FOUND, "a prompt", Attempt("model_call", "anthropic"))
    assert alarm.touched


def test_canaries_of_the_tasks_earlier_runs_are_found(watch: Watch) -> None:
    """An agent may have kept what one before it has read."""
    for run in ("run-1", "run-0"):
        assert watch.look(SESSION, canary(run).encode())
    assert watch.look(SESSION, canary("run-2").encode()) is None


def test_a_session_without_honeytokens_is_not_looked_at(watch: Watch) -> None:
    assert watch.look(replace(SESSION, honeytokens=()), FOUND.value.encode()) is None


def proxys(session: Session | None = SESSION, rule: str = RULE) -> Decided:
    return Decided(
        "http",
        "GET https://evil.example/",
        Deny("no"),
        session,
        detail={"honeytoken": "model-key", "where": "the headers of a request"},
        request=Request("GET", "https://evil.example/", "evil.example", 443),
        rule=rule,
    )


def test_what_the_egress_proxy_found_raises_the_alarm(alarm: FakeAlarm) -> None:
    heard_at_the_proxy(proxys(), alarm)
    where = "the headers of a request"
    touched = Touched(
        RUN, SESSION.task, "model-key", DOTENV, where, "egress", "evil.example"
    )  # fmt: skip
    assert alarm.touched == [touched]


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(proxys(rule="docs"), id="another rule"),
        pytest.param(proxys(session=None), id="nobody's address"),
        pytest.param(replace(proxys(), decision=Allow()), id="allowed"),
    ],
)
def test_other_records_of_the_proxy_raise_none(record: Decided, alarm: FakeAlarm) -> None:
    heard_at_the_proxy(record, alarm)
    assert not alarm.touched
