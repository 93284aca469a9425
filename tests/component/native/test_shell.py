"""The bash tool with commands that are meant to trip it."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from native.output import LONGEST_CHARS, Outcome, Spill
from native.shell import Shell


@pytest.fixture
def spill(tmp_path: Path) -> Spill:
    folder = tmp_path / "spill"
    folder.mkdir()
    return Spill(folder)


def bash(folder: Path, spill: Spill, command: str, **more: Any) -> Outcome:
    return Shell(folder, spill).bash({"command": command, **more})


@pytest.mark.parametrize(
    ("command", "text", "is_error"),
    [
        ("echo out; echo err >&2", "out\nerr", False),
        ("true", "(no output)", False),
        ("echo no; exit 3", "Exit code 3\nno", True),
        ("kill -9 $$", "Exit code -9", True),
        ("printf '\\xff\\x00\\x1b[31mred'", "\ufffdred", False),
        ("cat", "(no output)", False),
        ("cd /; echo $(pwd) >/dev/null", "(no output)", False),
    ],
)
def test_output_and_exit_code_come_back(
    tmp_path: Path,
    spill: Spill,
    command: str,
    text: str,
    is_error: bool,  # noqa: FBT001 - a table
) -> None:
    assert bash(tmp_path, spill, command) == Outcome(text, is_error)


def test_every_call_begins_in_the_working_directory(tmp_path: Path, spill: Spill) -> None:
    bash(tmp_path, spill, "cd /; X=1")
    assert bash(tmp_path, spill, "pwd; echo $X").text == str(tmp_path)


def test_a_deadline_ends_the_whole_group_and_keeps_what_was_said(
    tmp_path: Path, spill: Spill
) -> None:
    started = time.monotonic()
    outcome = bash(tmp_path, spill, "echo begun; (sleep 60; touch late) & sleep 60", timeout_s=1)
    assert outcome == Outcome("Command stopped after 1 s.\nbegun", is_error=True)
    assert time.monotonic() - started < 10


def test_a_command_that_ignores_the_polite_signal_is_ended_too(
    tmp_path: Path, spill: Spill
) -> None:
    outcome = bash(tmp_path, spill, "trap '' TERM; while :; do sleep 0.1; done", timeout_s=1)
    assert outcome.text == "Command stopped after 1 s."


def test_a_process_in_the_background_does_not_hold_the_call_up(
    tmp_path: Path, spill: Spill
) -> None:
    started = time.monotonic()
    outcome = bash(tmp_path, spill, "sleep 20 & echo $!")
    assert time.monotonic() - started < 5
    assert Path(f"/proc/{outcome.text}").exists()
    bash(tmp_path, spill, f"kill {outcome.text}")


def test_output_without_end_is_stopped(tmp_path: Path, spill: Spill) -> None:
    outcome = bash(tmp_path, spill, "yes", timeout_s=60)
    assert outcome.is_error
    assert "bytes of output; send it to a file or filter it" in outcome.text
    assert len(outcome.text) < LONGEST_CHARS + 500
    kept = sum(path.stat().st_size for path in (tmp_path / "spill").rglob("*") if path.is_file())
    assert kept <= 8 << 20


def test_long_output_shows_head_and_tail_and_where_the_whole_is(
    tmp_path: Path, spill: Spill
) -> None:
    outcome = bash(tmp_path, spill, "seq 1 100000")
    lines = outcome.text.splitlines()
    assert (lines[0], lines[-1]) == ("1", "100000")
    assert "[... of 588895 bytes all but head and tail left out; all of it: " in outcome.text
    assert len(outcome.text) < LONGEST_CHARS + 500
    path = Path(outcome.text.split("all of it: ")[1].split(" ")[0])
    assert path.read_bytes() == b"".join(b"%d\n" % n for n in range(1, 100001))


def test_output_just_over_the_limit_is_kept_too(tmp_path: Path, spill: Spill) -> None:
    outcome = bash(tmp_path, spill, f"head -c {LONGEST_CHARS + 10} /dev/zero | tr '\\0' x")
    path = Path(outcome.text.split("all of it: ")[1].split(" ")[0])
    assert path.read_bytes() == b"x" * (LONGEST_CHARS + 10)


def test_output_that_ends_before_the_process_is_waited_for(tmp_path: Path, spill: Spill) -> None:
    outcome = bash(tmp_path, spill, "exec >/dev/null 2>&1; sleep 0.5; exit 4")
    assert outcome == Outcome("Exit code 4", is_error=True)


def test_a_working_directory_that_is_gone_is_an_error_not_a_crash(
    tmp_path: Path, spill: Spill
) -> None:
    with pytest.raises(FileNotFoundError):
        bash(tmp_path / "gone", spill, "true")


def test_commands_in_other_threads_end_with_the_shell(tmp_path: Path) -> None:
    runs = Shell(tmp_path, Spill())
    script = "trap '' TERM; touch begun; while :; do sleep 0.1; done"
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(runs.bash, {"command": script})
        _until((tmp_path / "begun").exists)
        runs.close()
        assert running.result(10).text.startswith("Exit code -9")


def _until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)
