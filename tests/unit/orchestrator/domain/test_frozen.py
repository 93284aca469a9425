"""What is said of a frozen sandbox, and how an alarm is found again in the log."""

from dataclasses import replace

from orchestrator.domain.frozen import alarm_in, in_words, told
from orchestrator.domain.run import Outcome, RunState
from orchestrator.domain.supervision import Standing, waits_for
from orchestrator.domain.task import TaskStatus
from tests.fakes.clock import START
from tests.fakes.frozen import FROZEN
from tests.fakes.run import a_run
from tests.fakes.world import ENGAGEMENT, TASK

LINE = {
    "type": "decided",
    "at": START.isoformat(),
    "door": "git",
    "subject": "host/team/thing.git",
    "decision": "deny",
    "rule": "honeytoken",
    "detail": {
        "honeytoken": "aws-secret",
        "place": "/home/agent/.aws/credentials",
        "where": "a pushed pack",
    },
}


def test_the_words_say_what_happened_and_what_to_do() -> None:
    assert in_words(FROZEN) == (
        "the honeytoken aws-secret (/home/agent/.aws/credentials) was in a pushed pack for"
        " host/team/thing.git; the sandbox is frozen: `sandgate frozen show r1` says what to do"
    )
    assert " for" not in in_words(replace(FROZEN, subject=""))


def test_the_alarm_is_found_in_the_log() -> None:
    other = {**LINE, "rule": "docs"}
    later = {**LINE, "subject": "elsewhere"}
    outcome = {"type": "outcome", "of": 1, "result": "ok"}
    assert alarm_in(FROZEN.run, FROZEN.task, [outcome, other, LINE, later]) == FROZEN
    assert alarm_in(FROZEN.run, FROZEN.task, [outcome, other]) is None
    assert told(FROZEN)["at"] == START.isoformat()


def test_a_task_waits_for_its_supervisor_to_look_at_what_is_frozen() -> None:
    task = replace(TASK, status=TaskStatus.FAILED)
    run = a_run(state=RunState.ENDED, outcome=Outcome.FAILED)
    seen = Standing(task, run, ENGAGEMENT, frozen="look")
    assert waits_for(seen) == "lead: look"
    assert waits_for(replace(seen, engagement=None)) == "a person: look"
    assert waits_for(replace(seen, run=replace(run, state=RunState.SETTLING))) == ""
