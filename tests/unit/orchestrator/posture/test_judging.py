"""What was found is judged: the sandbox and the canaries must agree."""

from typing import Any

import pytest

from orchestrator.posture.judging import SAID_NOTHING, Found, found_in, judge
from orchestrator.posture.probe import Area, Probe, Wall


def probe(**changes: Any) -> Probe:
    return Probe("way", Area.NETWORK, Wall.FIREWALL, "Nothing gets out.", "tcp", **changes)


@pytest.mark.parametrize(
    ("word", "counted", "ok", "told"),
    [
        pytest.param("closed", 0, True, "closed", id="both saw nothing"),
        pytest.param("reached", 1, False, "reached, but the canaries counted 1", id="both saw it"),
        pytest.param("closed", 1, False, "closed, but the canaries counted 1", id="one way only"),
        pytest.param("reached", 0, False, "reached", id="somebody else answered"),
    ],
)
def test_a_way_is_closed_when_sandbox_and_canary_agree(
    word: str, counted: int, *, ok: bool, told: str
) -> None:
    [result] = judge([probe(canary=0)], "runc", {"way": Found(word)}, {"way": counted})
    assert (result.ok, result.told) == (ok, told)


def test_a_control_must_have_come_through_as_often_as_it_says() -> None:
    control = probe(expected=("accepted",), canary=1)
    found = {"way": Found("accepted")}
    assert judge([control], "runc", found, {"way": 1})[0].ok
    assert not judge([control], "runc", found, {})[0].ok


def test_without_a_canary_the_word_alone_counts() -> None:
    [result] = judge([probe()], "runc", {"way": Found("closed")}, {"way": 7})
    assert result.ok
    assert result.counted is None


def test_what_said_nothing_has_failed() -> None:
    [result] = judge([probe()], "runc", {}, {})
    assert not result.ok
    assert result.told == SAID_NOTHING


@pytest.mark.parametrize(
    ("word", "counted", "unanswered"),
    [
        ("silent", 0, True),
        (SAID_NOTHING, 0, True),
        ("closed TimeoutError", 0, True),
        ("closed", 1, False),
        ("reached", 0, False),
        ("200", 0, False),
        ("403", 0, False),
    ],
)
def test_who_got_no_answer_is_told_from_who_got_a_wrong_one(
    word: str, counted: int, *, unanswered: bool
) -> None:
    one = probe(expected=("403",), canary=0)
    [result] = judge([one], "runc", {"way": Found(word)}, {"way": counted})
    assert result.unanswered is unanswered


def test_another_tier_may_find_another_word() -> None:
    one = probe(expected=("EPERM",), gvisor=("ENOSYS",))
    found = {"way": Found("ENOSYS")}
    assert not judge([one], "runc", found, {})[0].ok
    assert judge([one], "gvisor", found, {})[0].ok


def test_a_line_of_the_script_is_read() -> None:
    line = {"name": "way", "found": "closed", "evidence": "3 tried", "ms": 12}
    assert found_in(line) == ("way", Found("closed", "3 tried", 12))


@pytest.mark.parametrize(
    "line", [{}, {"name": 1, "found": "x"}, {"name": "way"}, {"name": "w", "found": "x", "ms": "y"}]
)
def test_a_line_that_is_none_is_nothing(line: dict[str, Any]) -> None:
    assert found_in(line) is None


def test_what_a_sandbox_says_is_cut_to_a_length() -> None:
    read = found_in({"name": "way", "found": "x" * 9999, "evidence": "y" * 9999, "ms": 0})
    assert read is not None
    assert len(read[1].word) == len(read[1].evidence) == 400
