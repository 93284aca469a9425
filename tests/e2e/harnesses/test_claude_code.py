"""Claude Code, the real program in real sandboxes: every way its model, its tools and people can end it."""

from collections.abc import Mapping

import pytest

from tests.e2e.harnesses import scenes
from tests.e2e.harnesses.conftest import rows_of
from tests.e2e.harnesses.rows import CLAUDE_CODE, PATIENCE_S, Row, begin, how, rows_for, whole
from tests.e2e.house import House

pytestmark = [pytest.mark.docker, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def begun(lodge: House, request: pytest.FixtureRequest) -> Mapping[str, str]:
    """The tasks of all rows that were asked for, at work side by side."""
    return begin(lodge, CLAUDE_CODE, rows_of(request))


@pytest.mark.parametrize("row", rows_for(CLAUDE_CODE), ids=lambda row: row.name)
def test_a_run_ends_as_its_row_says(lodge: House, begun: Mapping[str, str], row: Row) -> None:
    row.check(lodge.ended(begun[row.name], PATIENCE_S))


def test_a_person_who_cancels_it_stops_it(lodge: House) -> None:
    run = scenes.cancelled(lodge, CLAUDE_CODE)
    assert how(run) == ("stopped", "cancelled"), whole(run)
    assert run["evidence"].get("said", {}).get("reason") == "interrupted", whole(run)


@pytest.mark.parametrize(
    ("signal", "cause", "code"), [("INT", "no_handover", 0), ("TERM", "harness_error", 143)]
)
def test_a_signal_from_inside_is_no_success(
    lodge: House, signal: str, cause: str, code: int
) -> None:
    """CASE-98: it exits with 0 after SIGINT."""
    run = scenes.signalled(lodge, CLAUDE_CODE, signal)
    assert how(run) == ("failed", cause), whole(run)
    assert run["evidence"]["exit"]["code"] == code, whole(run)


def test_what_is_sent_back_goes_on_in_the_same_conversation(lodge: House) -> None:
    first, second = scenes.sent_back(lodge, CLAUDE_CODE)
    assert (second["outcome"], second["trigger"]) == ("asked", "sent_back"), whole(second)
    assert "On with penguin?" in second["summary"]
    assert scenes.conversation(lodge, first) == scenes.conversation(lodge, second)


def test_a_conversation_that_is_gone_is_begun_anew(lodge: House) -> None:
    _, second = scenes.sent_back(lodge, CLAUDE_CODE, scenes.lost)
    assert (second["outcome"], second["trigger"]) == ("asked", "sent_back"), whole(second)
    assert "Anew with penguin?" in second["summary"]


def test_what_a_repository_brings_along_settles_nothing(lodge: House) -> None:
    run = scenes.in_a_hostile_repository(lodge, CLAUDE_CODE)
    assert how(run) == ("asked", "handed_over"), whole(run)
    assert "Clean?" in run["summary"], whole(run)
