"""Programs that outlive us, with real ones."""

import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from orchestrator.stack.pids import MARK, marked, record_pid, recorded_pid, start_time
from orchestrator.stack.process import (
    Program,
    answers_http,
    answers_tcp,
)
from orchestrator.stack.steps import StepFailed

Make = Callable[[str], Program]


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Make]:
    made: list[Program] = []

    def make(code: str) -> Program:
        made.append(
            Program(
                name="The sleeper",
                argv=(sys.executable, "-I", "-c", code),
                log=tmp_path / "log" / "sleeper.log",
                pid_file=tmp_path / "run" / "sleeper.pid",
                env={"GREETING": "hello"},
                cwd=tmp_path,
            )
        )
        return made[-1]

    yield make
    for one in made:
        one.stop(grace_s=0.1)


SLEEP = "import time; print('up', flush=True); time.sleep(60)"


def said(program: Program, text: str) -> Callable[[], bool]:
    return lambda: text in program.log_tail()


def test_a_program_runs_in_a_session_of_its_own_with_only_its_own_environment(
    program: Make, tmp_path: Path
) -> None:
    code = "import os, time; print(sorted(os.environ), os.getcwd(), flush=True); time.sleep(60)"
    sleeper = program(code)
    pid = sleeper.start()
    sleeper.wait_ready(said(sleeper, "GREETING"), timeout_s=10)
    assert os.getsid(pid) == pid
    assert str(tmp_path) in sleeper.log_tail()
    assert MARK in sleeper.log_tail()
    assert "PATH'" not in sleeper.log_tail()


def test_a_running_program_is_not_started_again(program: Make) -> None:
    sleeper = program(SLEEP)
    assert sleeper.start() == sleeper.start()


def test_a_stopped_program_is_gone_and_can_be_started_again(program: Make) -> None:
    sleeper = program(SLEEP)
    first = sleeper.start()
    assert sleeper.stop()
    assert not sleeper.alive()
    assert start_time(first) is None
    assert not sleeper.stop()
    assert sleeper.start() != first


def test_a_program_that_ignores_term_is_killed_with_its_children(program: Make) -> None:
    code = (
        "import signal, subprocess, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
        "child = subprocess.Popen(['/bin/sleep', '60']); print('child', child.pid, flush=True); "
        "time.sleep(60)"
    )
    sleeper = program(code)
    sleeper.start()
    sleeper.wait_ready(said(sleeper, "child"), timeout_s=10)
    child = int(sleeper.log_tail().split()[1])
    assert sleeper.stop(grace_s=0.2)
    assert not sleeper.alive()
    deadline = time.monotonic() + 5
    while start_time(child) is not None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert start_time(child) is None


def test_a_program_whose_pid_file_is_lost_is_found_by_its_mark(program: Make) -> None:
    sleeper = program(SLEEP)
    pid = sleeper.start()
    sleeper.wait_ready(said(sleeper, "up"), timeout_s=10)
    sleeper.pid_file.unlink()
    assert marked()[sleeper.pid_file] == [pid]
    assert sleeper.stop()
    assert start_time(pid) is None
    assert not sleeper.stop()


def test_a_child_that_made_a_session_of_its_own_ends_with_it(program: Make) -> None:
    code = (
        "import subprocess, time; "
        "child = subprocess.Popen(['/bin/sleep', '60'], start_new_session=True); "
        "print('child', child.pid, flush=True); time.sleep(60)"
    )
    sleeper = program(code)
    sleeper.start()
    sleeper.wait_ready(said(sleeper, "child"), timeout_s=10)
    child = int(sleeper.log_tail().split()[1])
    assert sleeper.stop()
    assert start_time(child) is None


def test_a_pid_that_now_belongs_to_another_process_is_never_taken_for_it(
    program: Make,
) -> None:
    """CASE-75"""
    sleeper = program(SLEEP)
    sleeper.pid_file.parent.mkdir(parents=True)
    sleeper.pid_file.write_text(f"{os.getpid()} 1\n")
    assert not sleeper.alive()
    assert not sleeper.stop()


def test_a_dead_child_that_nobody_reaped_is_not_alive(program: Make) -> None:
    sleeper = program(SLEEP)
    os.kill(sleeper.start(), signal.SIGKILL)
    deadline = time.monotonic() + 5
    while sleeper.alive() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not sleeper.alive()


def test_a_program_that_ends_at_once_fails_with_what_it_said(program: Make) -> None:
    broken = program("raise SystemExit('no such database')")
    broken.start()
    with pytest.raises(StepFailed, match="no such database"):
        broken.wait_ready(lambda: False, timeout_s=10)


def test_a_program_that_never_gets_ready_fails_in_time(program: Make) -> None:
    sleeper = program(SLEEP)
    sleeper.start()
    with pytest.raises(StepFailed, match="The sleeper is not ready after 0 s"):
        sleeper.wait_ready(lambda: False, timeout_s=0.1)


def test_a_program_that_does_not_exist_fails_in_a_sentence(tmp_path: Path) -> None:
    absent = Program(
        name="The absent", argv=("/nowhere/absent",), log=tmp_path / "l", pid_file=tmp_path / "p"
    )
    with pytest.raises(StepFailed, match="The absent did not start"):
        absent.start()
    assert not absent.pid_file.exists()


def test_a_half_written_pid_file_names_nobody(tmp_path: Path) -> None:
    (tmp_path / "p").write_text("12")
    assert recorded_pid(tmp_path / "p") is None


def test_a_recorded_pid_is_found_again(tmp_path: Path) -> None:
    record_pid(tmp_path / "p", os.getpid())
    assert recorded_pid(tmp_path / "p") == os.getpid()


def test_a_probe_says_whether_something_listens(program: Make) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert not answers_tcp("127.0.0.1", port)
    assert not answers_http("127.0.0.1", port, "/")
    server = program(
        f"from http.server import *; HTTPServer(('127.0.0.1', {port}), "
        "SimpleHTTPRequestHandler).serve_forever()"
    )
    server.start()
    server.wait_ready(lambda: answers_http("127.0.0.1", port, "/"), timeout_s=10)
    assert answers_tcp("127.0.0.1", port)
    assert not answers_http("127.0.0.1", port, "/absent")
