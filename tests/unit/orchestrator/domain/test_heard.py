"""heard(): what a harness's events tell of its run."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.domain.heard import heard, without_tools
from tests.fakes.clock import START
from tests.fakes.run import a_run

LATER = START + timedelta(seconds=9)
RUN = a_run()
ENDED = ("ended", {"reason": "completed", "detail": "all done"})


def test_a_conversation_is_remembered() -> None:
    run = heard(RUN, [("started", {"conversation": "0b1c-22"}), ("text", {"text": "hi"})], LATER)
    assert run.conversation == "0b1c-22"


@pytest.mark.parametrize(
    "hostile", ["../../etc", "a b", "-rf", "", "x" * 65, "a\n", 7, None, ["a"]]
)
def test_an_id_that_could_do_harm_in_a_command_is_none(hostile: object) -> None:
    assert heard(RUN, [("started", {"conversation": hostile})], LATER).conversation == ""


def test_the_last_word_counts_while_nothing_follows_it() -> None:
    run = heard(RUN, [ENDED, ("raw", {"text": "some warning"})], LATER)
    assert run.said
    assert (run.said.reason, run.said.detail, run.said.at) == ("completed", "all done", LATER)


@pytest.mark.parametrize("kind", ["text", "tool_call", "started", "retry"])
def test_what_follows_a_last_word_takes_it_back(kind: str) -> None:
    assert heard(RUN, [ENDED, (kind, {})], LATER).said is None


def test_a_harness_without_tools_stays_without_them() -> None:
    run = heard(RUN, [("started", {"unreachable": "401"}), ("text", {}), ENDED], LATER)
    assert without_tools(run)
    assert run.said
    assert run.said.detail == "401"


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
_DATA = st.dictionaries(
    st.sampled_from(["conversation", "unreachable", "reason", "detail"]), _VALUES
)


@given(st.lists(st.tuples(st.sampled_from(["started", "ended", "text", "raw"]), _DATA)))
def test_nothing_that_a_sandbox_says_breaks_it(events: list[tuple[str, Mapping[str, Any]]]) -> None:
    run = heard(RUN, events, LATER)
    assert run.version == RUN.version
    assert len(run.conversation) <= 64
    assert run.said is None or len(run.said.detail) <= 600
