"""What is tried again, how long, and what is said meanwhile."""

from collections.abc import Callable
from typing import Any

import pytest
from native.patience import PATIENCE, Trouble, of_status, persist


class Time:
    """A clock that sleeping moves; remembers events."""

    def __init__(self) -> None:
        self.at = 0.0
        self.retries: list[dict[str, Any]] = []

    def sleep(self, seconds: float) -> None:
        self.at += seconds

    def emit(self, kind: str, **facts: Any) -> None:
        assert kind == "retry"
        self.retries.append(facts)

    def persist(self, attempt: Callable[[], Any]) -> Any:
        return persist(attempt, self.emit, sleep=self.sleep, now=lambda: self.at)


def failing(time: Time, trouble: Trouble, until_s: float) -> Callable[[], str]:
    def attempt() -> str:
        if time.at < until_s:
            raise trouble
        return "done"

    return attempt


def test_an_entrance_that_is_away_for_90_s_is_waited_for() -> None:
    time = Time()
    assert time.persist(failing(time, Trouble("refused", "away"), 90)) == "done"
    assert [retry["delay_s"] for retry in time.retries[:5]] == [0.5, 1, 2, 4, 5]
    assert all(retry["reason"] == "refused" for retry in time.retries)


def test_patience_ends() -> None:
    time = Time()
    with pytest.raises(Trouble, match="refused"):
        time.persist(failing(time, Trouble("refused", "away"), 1e9))
    assert PATIENCE["away"].whole_s - 10 < time.at <= PATIENCE["away"].whole_s


def test_a_provider_that_stays_busy_is_asked_a_few_times() -> None:
    time = Time()
    with pytest.raises(Trouble, match=r"529: overloaded \(tried 8 times\)"):
        time.persist(failing(time, of_status(529, "overloaded"), 1e9))
    assert [retry["delay_s"] for retry in time.retries] == [0.5, 1, 2, 4, 8, 16, 30]


def test_an_entrance_that_was_away_does_not_use_up_what_a_busy_provider_gets() -> None:
    time = Time()
    troubles = iter([Trouble("refused", "away")] * 20 + [of_status(529, "overloaded")] * 3)

    def attempt() -> str:
        if trouble := next(troubles, None):
            raise trouble
        return "done"

    assert time.persist(attempt) == "done"
    assert [retry["delay_s"] for retry in time.retries[-3:]] == [0.5, 1, 2]


@pytest.mark.parametrize(("wait_s", "times"), [(10, 7), (60, 7), (200, 4), (900, 1), (901, 0)])
def test_a_pause_that_is_asked_for_is_kept_as_long_as_all_of_them_are_bounded(
    wait_s: float, times: int
) -> None:
    time = Time()
    with pytest.raises(Trouble):
        time.persist(failing(time, of_status(429, "slow down", retry_after_s=wait_s), 1e9))
    assert [retry["delay_s"] for retry in time.retries] == [wait_s] * times


def test_a_final_answer_is_not_tried_again() -> None:
    time = Time()
    with pytest.raises(Trouble):
        time.persist(failing(time, of_status(403, "over budget"), 1))
    assert time.retries == []


def test_the_other_side_says_when() -> None:
    time = Time()
    time.persist(failing(time, of_status(429, "slow down", retry_after_s=7), 7))
    assert [retry["delay_s"] for retry in time.retries] == [7]


def test_to_be_told_to_come_back_tomorrow_is_final() -> None:
    time = Time()
    tomorrow = of_status(429, "slow down", retry_after_s=86400)
    with pytest.raises(Trouble, match=r"429: slow down \(to be tried again in 86400 s: too long"):
        time.persist(failing(time, tomorrow, 1))
    assert time.at == 0


@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, "final"), (401, "final"), (402, "final"), (403, "final"), (404, "final"), (413, "too_long"),
     (429, "busy"), (500, "busy"), (529, "busy"), (502, "busy"), (503, "busy"), (504, "busy")],
)  # fmt: skip
def test_each_status_has_its_kind(status: int, kind: str) -> None:
    trouble = of_status(status, "m")
    assert (trouble.kind, trouble.status, str(trouble)) == (kind, status, f"{status}: m")


def test_a_dialect_may_know_better_than_the_status() -> None:
    assert of_status(400, "m", kind="too_long").kind == "too_long"
