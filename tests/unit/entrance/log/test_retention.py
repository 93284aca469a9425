"""Which sealed segments go, and that what is evidence never does."""

from datetime import timedelta
from pathlib import Path

import pytest

from entrance.log.retention import Keep, drop, going
from entrance.log.seal import Facts, Statement, sealed
from entrance.log.shelf import Shelf
from tests.fakes.clock import START
from tests.servers.log import signer

DAY = timedelta(days=1)
NOW = START + 10 * DAY


def seal(number: int, days_ago: float, size: int = 100) -> Statement:
    facts = Facts(number, "sgtest", number, 1, size, "0" * 64, "0" * 64, "then")
    return sealed(facts, (NOW - days_ago * DAY).isoformat())


SEALS = [seal(1, 9), seal(2, 6), seal(3, 3), seal(4, 2.5)]


@pytest.mark.parametrize(
    ("keep", "gone"),
    [
        pytest.param(Keep(), [], id="kept for ever"),
        pytest.param(Keep(age=5 * DAY), [1, 2], id="by age"),
        pytest.param(Keep(bytes=250), [1, 2], id="by size"),
        pytest.param(Keep(bytes=400), [], id="just enough"),
        pytest.param(Keep(age=8 * DAY, bytes=250), [1, 2], id="by both"),
        pytest.param(Keep(age=DAY, bytes=1), [1, 2, 3], id="the newest stays"),
    ],
)
def test_the_oldest_go_by_rule(keep: Keep, gone: list[int]) -> None:
    assert [seal.facts.segment for seal, _ in going(SEALS, keep, NOW)] == gone


def test_the_rule_is_named() -> None:
    rules = [rule for _, rule in going(SEALS, Keep(age=8 * DAY, bytes=250), NOW)]
    assert rules == ["older than 8 days", "more than 250 bytes"]


def test_nothing_is_left_and_nothing_goes() -> None:
    assert going([], Keep(age=DAY), NOW) == []


def laid_out(folder: Path) -> Shelf:
    shelf = Shelf(folder)
    for one in SEALS:
        number = one.facts.segment
        shelf.segment(number).write_bytes(b"x")
        shelf.seal(number).write_bytes(one.signed(signer()))
    return shelf


def test_what_we_have_not_signed_is_not_removed_nor_what_comes_after_it(tmp_path: Path) -> None:
    shelf = laid_out(tmp_path)
    shelf.seal(2).write_bytes(SEALS[1].signed(signer(b"x")))
    gone = drop(shelf, signer(), Keep(age=timedelta()), NOW)
    assert [stone.facts.segment for stone in gone] == []
    assert shelf.segments() == [1, 2, 3, 4]


def test_what_a_crash_left_of_a_removal_is_finished(tmp_path: Path) -> None:
    shelf = laid_out(tmp_path)
    drop(shelf, signer(), Keep(age=8 * DAY), NOW)
    shelf.segment(1).write_bytes(b"x")
    drop(shelf, signer(), Keep(age=8 * DAY), NOW)
    assert (shelf.segments(), shelf.removed()) == ([2, 3, 4], [1])
