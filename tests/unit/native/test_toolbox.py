"""Which calls run beside each other, and what becomes of those that break."""

import io
import threading
from typing import Any

import httpx2
import pytest
from native.conversation import Call
from native.events import emitter
from native.mcp import Gateway
from native.output import Outcome, Spill
from native.toolbox import Tool, Toolbox, batches

NO_PARAMETERS: dict[str, Any] = {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("harmless", "expected"),
    [
        ([], []),
        ([True, True, True], [[0, 1, 2]]),
        ([False, False], [[0], [1]]),
        ([True, False, True, True], [[0], [1], [2, 3]]),
    ],
)
def test_only_neighbours_that_change_nothing_run_at_once(
    harmless: list[bool], expected: list[list[int]]
) -> None:
    assert list(batches(harmless)) == expected


def run(tool: Tool, times: int) -> tuple[list[Outcome], int]:
    """Outcomes of some calls in one answer, and how many `tool_result` events there were."""
    out = io.BytesIO()
    emit = emitter(out)
    gateway = Gateway("http://door.invalid/mcp", httpx2.Client(), emit, Spill())
    calls = [Call(str(n), tool.name, {}) for n in range(times)]
    outcomes = list(Toolbox([tool], gateway, emit).run(calls, until=lambda _call, _outcome: False))
    return outcomes, out.getvalue().count(b'"tool_result"')


def test_calls_that_change_nothing_really_run_beside_each_other() -> None:
    both_here = threading.Barrier(2, timeout=10)

    def meet(_: Any) -> Outcome:
        both_here.wait()
        return Outcome("met")

    outcomes, events = run(Tool("look", "", NO_PARAMETERS, meet, changes_nothing=True), times=2)
    assert [outcome.text for outcome in outcomes] == ["met", "met"]
    assert events == 2


def test_a_tool_that_breaks_is_an_answer_too() -> None:
    def break_down(_: Any) -> Outcome:
        raise PermissionError(13, "Permission denied", "/root")

    (outcome,), events = run(Tool("look", "", NO_PARAMETERS, break_down), times=1)
    assert outcome.is_error
    assert "Permission denied" in outcome.text
    assert events == 1
