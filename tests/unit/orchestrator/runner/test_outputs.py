"""Outputs: what harnesses said, as they said it."""

from pathlib import Path

from entrance.session import RunId
from orchestrator.runner.outputs import MOST_BYTES, MOST_LINES, Outputs

RUN = RunId("run1")


async def test_lines_are_kept_in_order(tmp_path: Path) -> None:
    outputs = Outputs(tmp_path / "new")
    await outputs.keep(RUN, 0, ["one", "tw\u00f6"])
    await outputs.keep(RUN, 2, ["", "four"])
    assert outputs.path(RUN).read_text() == "one\ntw\u00f6\n\nfour\n"


async def test_lines_that_nobody_counted_are_replaced_by_themselves(tmp_path: Path) -> None:
    await Outputs(tmp_path).keep(RUN, 0, ["one", "two", "three"])
    after_a_crash = Outputs(tmp_path)
    await after_a_crash.keep(RUN, 1, ["two", "three", "four"])
    assert after_a_crash.path(RUN).read_text() == "one\ntwo\nthree\nfour\n"


async def test_the_same_lines_twice_are_kept_once(tmp_path: Path) -> None:
    outputs = Outputs(tmp_path)
    for _ in range(2):
        await outputs.keep(RUN, 0, ["one", "two"])
    assert outputs.path(RUN).read_text() == "one\ntwo\n"


async def test_a_harness_that_never_stops_talking_fills_no_disk(tmp_path: Path) -> None:
    outputs, line = Outputs(tmp_path), "x" * (MOST_BYTES // 4)
    kept = [await outputs.keep(RUN, number, [line]) for number in range(6)]
    assert kept == [1, 1, 1, 0, 0, 0]
    assert await outputs.keep(RUN, 6, ["a short one"]) == 0
    assert await Outputs(tmp_path).keep(RUN, 7, ["nor after a restart"]) == 0
    assert outputs.path(RUN).read_text() == f"{line}\n" * 3


async def test_nor_does_one_that_says_a_million_times_nothing(tmp_path: Path) -> None:
    outputs = Outputs(tmp_path)
    kept = [await outputs.keep(RUN, n * 50_000, [""] * 50_000) for n in range(20)]
    assert sum(kept) == MOST_LINES
    assert outputs.path(RUN).stat().st_size == MOST_LINES


async def test_half_a_line_that_a_crash_left_is_written_anew(tmp_path: Path) -> None:
    outputs = Outputs(tmp_path)
    outputs.path(RUN).write_text("one\ntw")
    assert await outputs.keep(RUN, 1, ["two", "three"]) == 2
    assert outputs.path(RUN).read_text() == "one\ntwo\nthree\n"


async def test_a_lone_surrogate_is_kept_as_a_question_mark(tmp_path: Path) -> None:
    outputs = Outputs(tmp_path)
    await outputs.keep(RUN, 0, ["a\ud800b"])
    assert outputs.path(RUN).read_bytes() == b"a?b\n"
