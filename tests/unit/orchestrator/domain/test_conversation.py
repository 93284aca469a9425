"""to_go_on_with(): whose conversation a run goes on with."""

from dataclasses import replace

import pytest

from entrance.session import RunId
from orchestrator.domain.conversation import to_go_on_with
from orchestrator.domain.run import Cause, Run
from tests.fakes.run import a_run

NOW = a_run()


def earlier(number: int, conversation: str = "c", cause: Cause = Cause.HANDED_OVER) -> Run:
    return replace(
        NOW, id=RunId(f"earlier{number}"), conversation=f"{conversation}{number}", cause=cause
    )


def test_the_newest_one_is_gone_on_with() -> None:
    assert to_go_on_with(NOW, [NOW, earlier(2), earlier(1)]) == earlier(2)


def test_a_run_that_never_began_to_talk_is_passed_over() -> None:
    silent = replace(earlier(2), conversation="")
    assert to_go_on_with(NOW, [silent, earlier(1)]) == earlier(1)


@pytest.mark.parametrize("other", [{"agent": "bot-max"}, {"harness": "codex"}])
def test_another_agents_or_harnesss_conversation_is_none(other: dict[str, str]) -> None:
    assert to_go_on_with(NOW, [replace(earlier(1), **other)]) is None  # type: ignore[arg-type] # text fields


@pytest.mark.parametrize(
    "cause", [Cause.CONTEXT_OVERFLOW, Cause.LOOP, Cause.HARNESS_ERROR, Cause.TOOLS]
)
def test_a_conversation_that_broke_its_run_begins_anew(cause: Cause) -> None:
    assert to_go_on_with(NOW, [earlier(2, cause=cause), earlier(1)]) is None


@pytest.mark.parametrize("cause", [Cause.CANCELLED, Cause.OOM, Cause.BUDGET, Cause.RATE_LIMIT])
def test_a_run_that_was_cut_short_is_gone_on_with(cause: Cause) -> None:
    assert to_go_on_with(NOW, [earlier(1, cause=cause)]) == earlier(1, cause=cause)
