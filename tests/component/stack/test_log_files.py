"""Logs stay small while their programs write on, and what was written last is always there."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from orchestrator.log_files import LogFiles, rotate
from orchestrator.stack.process import Program

ECHO = """
import sys
for line in open(sys.argv[1]):
    print(line, end="", flush=True)
"""
CAP = 10_000


class Writer:
    """A program of an installation that logs what it is told, line by line."""

    def __init__(self, home: Path) -> None:
        self._told = home / "told"
        subprocess.run(["mkfifo", str(self._told)], check=True, timeout=10)
        self.program = Program(
            name="the writer",
            argv=(sys.executable, "-I", "-c", ECHO, str(self._told)),
            log=home / "log" / "writer.log",
            pid_file=home / "run" / "writer.pid",
        )
        self.program.start()
        self._pipe = self._told.open("w")

    def write(self, first: int, last: int) -> None:
        """Have it log these lines, and wait until it has."""
        for number in range(first, last):
            self._pipe.write(f"line {number:05d}\n")
        self._pipe.flush()
        while f"line {last - 1:05d}\n" not in self.program.log.read_text():
            assert self.program.alive()
            time.sleep(0.005)

    def stop(self) -> None:
        self._pipe.close()
        self.program.stop(grace_s=1)


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Writer]:
    writer = Writer(tmp_path)
    yield writer
    writer.stop()


def test_only_a_log_that_is_too_long_is_rotated(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    log.write_text("0123456789")
    assert not rotate(log, cap_bytes=10)
    assert rotate(log, cap_bytes=9)
    assert log.read_text() == ""
    assert (tmp_path / "x.log.1").read_text() == "0123456789"
    assert not rotate(tmp_path / "none.log", cap_bytes=9)


def test_a_log_is_rotated_while_its_program_writes_on(writer: Writer) -> None:
    log = writer.program.log
    files = LogFiles(log.parent, cap_bytes=CAP)
    at = 0
    for _ in range(3):
        writer.write(at, at + 1000)
        at += 1000
        files.look()
        assert log.stat().st_size == 0, "it isn't written at its old end, behind a hole"
    writer.write(at, at + 10)
    files.look()
    older = log.with_name("writer.log.1").read_text()
    kept = (older + log.read_text()).splitlines()
    assert kept == [f"line {number:05d}" for number in range(2000, 3010)]
    assert sorted(file.name for file in log.parent.iterdir()) == ["writer.log", "writer.log.1"]
    assert "line 03009" in writer.program.log_tail()


def test_a_log_that_can_not_be_rotated_shields_no_other(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.log").write_text("x" * (CAP + 1))
    (tmp_path / "a.log.part").mkdir()
    with capture_logs() as said:
        LogFiles(tmp_path, cap_bytes=CAP).look()
    assert [(line["event"], line["file"]) for line in said] == [
        ("log_not_rotated", "a.log"),
        ("log_rotated", "b.log"),
    ]
    assert (tmp_path / "a.log").stat().st_size == CAP + 1


def test_without_a_folder_of_logs_there_is_nothing_to_do(tmp_path: Path) -> None:
    LogFiles(tmp_path / "nowhere").look()
    assert list(tmp_path.iterdir()) == []
