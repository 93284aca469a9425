"""Codex, the real program in real sandboxes: every way its model, its tools and people can end it."""

from dataclasses import replace

import pytest

from tests.e2e.harnesses import scenes
from tests.e2e.harnesses.rows import CODEX, PATIENCE_S, Begun, Program, Row, how, rows_for, whole
from tests.e2e.house import House
from tests.e2e.supervisor import decide

pytestmark = [pytest.mark.docker, pytest.mark.timeout(600)]
PROGRAM = CODEX

WITH_TOOLS = replace(PROGRAM, short="codex-tools", model="gpt-5.5")
"""Codex gives this model its tools one by one; newer ones, and the table's, write scripts that call them."""


@pytest.mark.parametrize("row", rows_for(PROGRAM), ids=lambda row: row.name)
def test_a_run_ends_as_its_row_says(lodge: House, begun: Begun, row: Row) -> None:
    row.check(lodge.ended(begun[PROGRAM.short, row.name], PATIENCE_S))


def test_a_person_who_cancels_it_stops_it(lodge: House) -> None:
    """It ends without a word, so nothing of it is believed."""
    run = scenes.cancelled(lodge, PROGRAM)
    assert how(run) == ("stopped", "cancelled"), whole(run)
    assert "said" not in run["evidence"], whole(run)


@pytest.mark.parametrize(("signal", "code"), [("INT", 1), ("TERM", 143)])
def test_a_signal_from_inside_is_no_success(lodge: House, signal: str, code: int) -> None:
    """CASE-99: it is not PID 1, which would ignore both."""
    run = scenes.signalled(lodge, PROGRAM, signal)
    assert how(run) == ("failed", "harness_error"), whole(run)
    assert run["evidence"]["exit"]["code"] == code, whole(run)


@pytest.mark.parametrize("program", [PROGRAM, WITH_TOOLS], ids=lambda program: program.model)
def test_what_is_sent_back_goes_on_in_the_same_conversation(lodge: House, program: Program) -> None:
    first, second = scenes.sent_back(lodge, program)
    assert (second["outcome"], second["trigger"]) == ("asked", "sent_back"), whole(second)
    assert "On with penguin?" in second["summary"]
    assert scenes.conversation(lodge, first) == scenes.conversation(lodge, second)


def test_a_conversation_that_is_gone_is_begun_anew(lodge: House) -> None:
    _, second = scenes.sent_back(lodge, PROGRAM, scenes.lost)
    assert (second["outcome"], second["trigger"]) == ("asked", "sent_back"), whole(second)
    assert "Anew with penguin?" in second["summary"]


def test_a_conversation_that_can_not_be_read_is_tried_once(lodge: House) -> None:
    _, second = scenes.sent_back(lodge, PROGRAM, scenes.emptied)
    assert how(second) == ("failed", "harness_error"), whole(second)
    assert "thread/resume failed" in second["evidence"]["said"]["detail"], whole(second)
    decide(lodge, second["task"], "retry")
    assert how(third := scenes.after(lodge, second)) == ("submitted", "handed_over"), whole(third)


def test_what_a_repository_brings_along_settles_nothing(lodge: House) -> None:
    run = scenes.in_a_hostile_repository(lodge, PROGRAM)
    assert how(run) == ("asked", "handed_over"), whole(run)
    assert "Clean?" in run["summary"], whole(run)
