"""Outputs: what harnesses said, as they said it."""

from pathlib import Path

from entrance.session import RunId
from orchestrator.runner.outputs import MOST_BYTES, Outputs

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
    for number in range(6):
        await outputs.keep(RUN, number, [line])
    assert outputs.path(RUN).stat().st_size == MOST_BYTES


async def test_a_lone_surrogate_is_kept_as_a_question_mark(tmp_path: Path) -> None:
    outputs = Outputs(tmp_path)
    await outputs.keep(RUN, 0, ["a\ud800b"])
    assert outputs.path(RUN).read_bytes() == b"a?b\n"
