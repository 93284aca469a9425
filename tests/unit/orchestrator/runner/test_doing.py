"""What a run is doing, told from its harness's events."""

from collections.abc import Mapping
from typing import Any

import pytest

from entrance.ports import Cause
from orchestrator.ports import Event
from orchestrator.runner.doing import LONGEST, MOST, doing
from tests.fakes.clock import START

AT = START.isoformat()


def call(id_: Any, name: Any = "Bash") -> tuple[str, Mapping[str, Any]]:
    return "tool_call", {"id": id_, "name": name}


def result(id_: Any) -> tuple[str, Mapping[str, Any]]:
    return "tool_result", {"id": id_}


TEXT = ("text", {"text": "..."})


def after(*events: tuple[str, Mapping[str, Any]]) -> Cause | None:
    now = doing(None, [Event(n, START, *event) for n, event in enumerate(events)])
    return now.cause() if now else None


@pytest.mark.parametrize(
    ("events", "cause"),
    [
        pytest.param([], None, id="nothing is known"),
        pytest.param([TEXT, TEXT], Cause(1), id="the model is at work"),
        pytest.param([TEXT, call("a")], Cause(1, "Bash", "a", AT), id="a tool is"),
        pytest.param([call("a"), ("raw", {})], Cause(0, "Bash", "a", AT), id="it still is"),
        pytest.param([call("a"), result("a")], Cause(1), id="it has ended"),
        pytest.param(
            [call("a"), call("b"), call("c")], Cause(0, "Bash", "a", AT, 2), id="the first of three"
        ),
        pytest.param(
            [call("a"), call("b"), result("a")], Cause(1, "Bash", "b", AT), id="then the second"
        ),
        pytest.param(
            [call("a"), call("b"), result("a"), TEXT], Cause(3), id="both under one id, the next turn"
        ),
        pytest.param(
            [call("a"), call("b"), result("a"), call("c")],
            Cause(3, "Bash", "c", AT),
            id="the next turn's call",
        ),
        pytest.param([call("a"), result("z")], Cause(0, "Bash", "a", AT), id="another's result"),
        pytest.param([call("a"), ("ended", {})], Cause(1), id="the harness is over"),
        pytest.param([call(None, 7)], Cause(0, "", "", AT), id="what is no text"),
        pytest.param(
            [call("i" * 900, "n" * 900)], Cause(0, "n" * LONGEST, "i" * LONGEST, AT), id="too long"
        ),
    ],
)  # fmt: skip
def test_an_attempt_is_put_down_to(
    events: list[tuple[str, Mapping[str, Any]]], cause: Cause | None
) -> None:
    assert after(*events) == cause


def test_a_harness_that_opens_calls_without_end_is_not_kept_whole() -> None:
    cause = after(*(call(str(n)) for n in range(1000)))
    assert cause == Cause(1000 - MOST, "Bash", str(1000 - MOST), AT, MOST - 1)
