"""The sweep sees what descends from execd, and reads any process name."""

import os

import pytest

from execd.sweep import Process, below, parse_stat, processes


@pytest.mark.parametrize("name", ["bash", "a b", "x) R 1 (y", "((", ""])
def test_a_process_can_have_any_name(name: str) -> None:
    stat = f"42 ({name}) S 7 42 9 0 -1 4194304 1 2 3\n"
    assert parse_stat(stat) == Process(42, 7, 9, "S", name)


def test_descendants_are_found_through_all_generations() -> None:
    listed = [Process(pid, parent, 0, "S", "") for pid, parent in [(2, 1), (3, 2), (4, 3), (9, 8)]]
    assert below(listed, 1) == {2, 3, 4}
    assert below(listed, 8) == {9}


def test_this_very_process_is_listed() -> None:
    assert os.getpid() in {process.pid for process in processes()}
