"""The native loop in real sandboxes: every way its model, its tools and people can end it.

The whole table is tried over Google's protocol, which no other harness speaks; over the others what
each says in its own way. `tests/component/native` has the faults of a provider in all three.
"""

import pytest

from tests.e2e.harnesses import scenes
from tests.e2e.harnesses.rows import NATIVE, PATIENCE_S, ROWS, Begun, Program, Row, how, whole
from tests.e2e.house import House

pytestmark = [pytest.mark.docker, pytest.mark.timeout(600)]

SAID_IN_ITS_OWN_WAY = frozenset(
    {
        "403",
        "429 for an hour",
        "cut once",
        "overflow",
        "budget spent in mid-answer",
    }
)
GOOGLE = NATIVE[0]
TRIED = [
    pytest.param(program, row, id=f"{program.provider}, {row.name}")
    for program in NATIVE
    for row in ROWS
    if row.only in {"", "native"} and (program is GOOGLE or row.name in SAID_IN_ITS_OWN_WAY)
]


@pytest.mark.parametrize(("program", "row"), TRIED)
def test_a_run_ends_as_its_row_says(lodge: House, begun: Begun, program: Program, row: Row) -> None:
    row.check(lodge.ended(begun[program.short, row.name], PATIENCE_S))


def test_a_person_who_cancels_it_stops_it(lodge: House) -> None:
    run = scenes.cancelled(lodge, GOOGLE)
    assert how(run) == ("stopped", "cancelled"), whole(run)
    assert run["evidence"].get("said", {}).get("reason") == "interrupted", whole(run)


@pytest.mark.parametrize("signal", ["INT", "TERM"])
def test_a_signal_from_inside_is_no_success(lodge: House, signal: str) -> None:
    run = scenes.signalled(lodge, GOOGLE, signal)
    assert how(run) == ("failed", "harness_error"), whole(run)
    assert run["evidence"]["exit"]["code"] == 1, whole(run)


def test_what_is_sent_back_goes_on_in_the_same_conversation(lodge: House) -> None:
    first, second = scenes.sent_back(lodge, GOOGLE)
    assert (second["outcome"], second["trigger"]) == ("asked", "sent_back"), whole(second)
    assert "On with penguin?" in second["summary"]
    assert scenes.conversation(lodge, first) == scenes.conversation(lodge, second)


def test_a_conversation_that_is_gone_is_begun_anew(lodge: House) -> None:
    _, second = scenes.sent_back(lodge, GOOGLE, scenes.lost)
    assert (second["outcome"], second["trigger"]) == ("asked", "sent_back"), whole(second)
    assert "Anew with penguin?" in second["summary"]
