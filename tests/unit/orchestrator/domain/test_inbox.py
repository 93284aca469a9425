"""What is said of items of the inbox."""

from dataclasses import replace
from datetime import datetime

import pytest

from orchestrator.domain.access import wanted
from orchestrator.domain.approval import ApprovalState, Scope
from orchestrator.domain.inbox import (
    REASONS_SAID,
    comment_when_asked,
    comment_when_decided,
    what_happens,
)
from tests.fakes.approvals import ITEM


def test_the_end_of_a_standing_rule_is_said_in_utc_wherever_it_was_written() -> None:
    item = replace(
        ITEM,
        state=ApprovalState.STANDING,
        decided_by="lead",
        scope=Scope("project", "WEB"),
        until=datetime.fromisoformat("2026-03-01T01:30:00+02:00"),
    )
    said = f"{ITEM.title}: allowed by a standing rule for project WEB until 2026-02-28 23:30 UTC by lead."
    assert comment_when_decided(item) == (f"Decided: {ITEM.id}", said)


@pytest.mark.parametrize("words", ["It answered: Done.", "It answered: Done"])
def test_what_came_of_it_ends_in_one_full_stop(words: str) -> None:
    released = replace(ITEM, kind="call", state=ApprovalState.RELEASED, came={"words": words})
    _, text = comment_when_decided(released)
    assert text.endswith("\nIt answered: Done.")


def test_what_happens_names_the_port_where_it_is_not_the_schemes_own() -> None:
    assert "through to https://a.example. No" in what_happens(wanted("https://a.example/x", "GET"))
    assert "through to http://a.example:8080." in what_happens(
        wanted("http://a.example:8080/x", "GET")
    )


def test_of_many_reasons_a_comment_has_the_first_and_says_how_many_more() -> None:
    reasons = [f"reason {number}" for number in range(REASONS_SAID + 2)]
    _, text = comment_when_asked(replace(ITEM, kind="push", wanted={"reasons": reasons}))
    assert f"reason {REASONS_SAID - 1}" in text
    assert f"reason {REASONS_SAID}" not in text
    assert "and 2 more." in text
