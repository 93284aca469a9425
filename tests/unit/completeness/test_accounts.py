"""The accounts of the completeness test find whatever is missing in the log, or is in it twice."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest

from tests.e2e.completeness.accounts import wrong_with
from tests.e2e.completeness.book import book_of, told_in
from tests.e2e.completeness.load import FIRST_PORT, model_sha256

AT = datetime(2026, 1, 5, tzinfo=UTC)
RUN, ADDRESS, TARGET = "r1", "10.0.0.2", f"192.0.2.7:{FIRST_PORT}"
REPORT = f"""\
s00n00001 http 200
s00n00002 http-refused 403
s00n00003 model 200
s00n00004 fetch 200
s00n00005 packet {TARGET}
s00n00006 packet {TARGET}
s00n00007 http 0
end 1.0 0.5
"""
type Lines = list[dict[str, Any]]


def decided(seq: int, door: str, decision: str = "allow", **more: Any) -> dict[str, Any]:
    at = (AT + timedelta(seconds=seq)).isoformat()
    line = {"seq": seq, "at": at, "type": "decided", "door": door, "run": RUN, "address": ADDRESS}
    return {**line, "decision": decision, **more}


def outcome(seq: int, of: int, **more: Any) -> dict[str, Any]:
    return {"seq": seq, "at": AT.isoformat(), "type": "outcome", "of": of, **more}


def log() -> Lines:
    return [
        decided(2, "egress", url="http://canary.example/attempts/s00n00001", key="k-1"),
        outcome(3, 2),
        decided(4, "egress", "deny", url="http://refused.example/s00n00002", key="k-2"),
        decided(5, "model"),
        outcome(6, 5, request_sha256=model_sha256("s00n00003")),
        decided(7, "git"),
        outcome(8, 7),
        decided(9, "fence", "deny", target=TARGET, port=FIRST_PORT, detail={"packets": 2}),
    ]


def found(lines: Lines, hits: Mapping[str, int] | None = None) -> list[str]:
    told = told_in(REPORT, RUN, ADDRESS)
    assert told
    came = [
        (attempt, AT + timedelta(seconds=after))
        for attempt, after in ({"s00n00001": 3} if hits is None else hits).items()
    ]
    book = book_of(map(orjson.dumps, lines), since=1)
    return wrong_with([told], book, came, ["s00n00003"], [AT])


def without(seq: int) -> Callable[[Lines], Lines]:
    return lambda lines: [line for line in lines if line["seq"] != seq]


def with_one_more(line: dict[str, Any]) -> Callable[[Lines], Lines]:
    return lambda lines: [*lines, line]


def test_a_whole_log_agrees_with_everybody() -> None:
    assert found(log()) == []
    late = decided(10, "egress", url="http://canary.example/attempts/s00n00007", key="k-3")
    assert found([*log(), late, outcome(11, 10)]) == [], "what got no answer may be in it"


@pytest.mark.parametrize(
    "spoilt",
    [
        pytest.param(without(2), id="an attempt that was answered is missing"),
        pytest.param(without(4), id="a refusal is missing"),
        pytest.param(without(3), id="an outcome is missing"),
        pytest.param(without(6), id="a model call's outcome is missing"),
        pytest.param(without(7), id="a fetch is missing"),
        pytest.param(without(9), id="packets are missing"),
        pytest.param(with_one_more({**log()[0], "seq": 10}), id="an attempt is there twice"),
        pytest.param(with_one_more(outcome(10, 2)), id="an outcome is there twice"),
        pytest.param(with_one_more({**log()[5], "seq": 10}), id="a fetch is there twice"),
        pytest.param(with_one_more({**log()[7], "seq": 10}), id="packets are there twice"),
        pytest.param(
            with_one_more(decided(10, "egress", "deny", url="http://x.example/s00n99999")),
            id="an attempt that nobody made",
        ),
        pytest.param(lambda lines: lines[::-1], id="in another order"),
    ],
)
def test_whatever_does_not_agree_is_found(spoilt: Callable[[Lines], Lines]) -> None:
    assert found(spoilt(log()))


def test_what_a_killed_proxy_had_told_needs_no_outcome_however_late_it_was_recorded() -> None:
    late = "http://canary.example/attempts/s00n00007"
    before = {**log()[0], "at": AT.isoformat()}
    lines = [before, *log()[1:]]
    assert found([*lines, decided(10, "egress", url=late, key="k-3")]) == []
    assert found([*lines, decided(10, "egress", url=late, key="another-1")])


def test_whoever_came_to_the_canary_was_decided_before() -> None:
    assert found(log(), {"s00n00001": 1})
    assert found(log(), {"s00n00001": 3, "s00n00007": 3})
