"""What a run had open is told with what it attempts."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from entrance.decision import Allow
from entrance.log.egress_log import EgressLog
from entrance.log.records import Outcome
from entrance.ports import Cause
from entrance.session import RunId
from tests.servers.log import lines_in, open_log
from tests.unit.entrance.log.logs import RECORD


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "egress"


class Doing:
    """`Causes` that says what it is told to."""

    def __init__(self) -> None:
        self.now: Cause | None = None

    def of(self, run: RunId) -> Cause | None:
        assert run == "r"
        return self.now


@pytest.fixture
async def doing(folder: Path) -> AsyncIterator[tuple[EgressLog, Doing]]:
    doing = Doing()
    log = open_log(folder, causes=doing)
    yield log, doing
    await log.close()


async def test_what_the_run_had_open_is_the_cause(
    doing: tuple[EgressLog, Doing], folder: Path
) -> None:
    log, run = doing
    await log.decided(RECORD)
    run.now = Cause(7, "Bash", "c-1", "2026-01-05T00:00:00+00:00", others=1)
    await log.decided(RECORD)
    causes = [line.get("cause") for line in lines_in(folder)[1:]]
    told = {"step": 7, "tool": "Bash", "call": "c-1", "since": "2026-01-05T00:00:00+00:00"}
    assert causes == [None, {**told, "others": 1}]


async def test_an_attempts_own_word_on_its_cause_goes_first(
    doing: tuple[EgressLog, Doing], folder: Path
) -> None:
    log, run = doing
    run.now = Cause(7, "Bash", "c-1", "2026")
    await log.decided(replace(RECORD, cause=Cause(tool="get_task", call="9")))
    cause = lines_in(folder)[1]["cause"]
    assert cause == {"step": 7, "tool": "get_task", "call": "9", "since": "2026"}


async def test_a_cause_that_is_known_only_later_is_told_with_the_outcome(
    doing: tuple[EgressLog, Doing], folder: Path
) -> None:
    """The harness's word on a tool call may reach the runner after what the call did."""
    log, run = doing
    run.now = Cause(step=3)
    seq = await log.decided(replace(RECORD, decision=Allow()))
    run.now = Cause(4, "Bash", "c-1")
    await log.came_of_it(Outcome(seq, "ok"))
    known = await log.decided(replace(RECORD, decision=Allow()))
    run.now = Cause(9, "Read", "c-2")
    await log.came_of_it(Outcome(known, "ok"))
    late, told = [line.get("cause") for line in lines_in(folder) if line["type"] == "outcome"]
    assert (late, told) == ({"step": 4, "tool": "Bash", "call": "c-1"}, None)
