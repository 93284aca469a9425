import json
import os
import subprocess
from pathlib import Path

import pytest

from orchestrator.stack.dockerd import clear_stale_pid_file, flags

NO_DNS = "--dns 127.0.0.1"
CAPPED_LOGS = "--log-driver json-file --log-opt max-size=5m --log-opt max-file=1"
OURS = f"{NO_DNS} {CAPPED_LOGS}"


def test_an_engine_that_we_start_forwards_no_dns_and_caps_its_logs(tmp_path: Path) -> None:
    """CASE-17"""
    assert " ".join(flags(tmp_path / "absent.json")) == OURS


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        pytest.param({"dns": ["10.0.0.2"]}, CAPPED_LOGS, id="its own dns"),
        pytest.param({"log-driver": "journald"}, NO_DNS, id="its own log driver"),
        pytest.param({"log-opts": {"tag": "x"}}, NO_DNS, id="its own log options"),
        pytest.param({"data-root": "/srv"}, OURS, id="something else"),
    ],
)
def test_what_the_machines_own_file_sets_is_no_flag(
    settings: dict[str, object], expected: str, tmp_path: Path
) -> None:
    file = tmp_path / "daemon.json"
    file.write_text(json.dumps(settings))
    assert " ".join(flags(file)) == expected


def own_name() -> str:
    return Path("/proc/self/comm").read_text().strip()


@pytest.mark.parametrize(
    ("text", "program", "stays"),
    [
        pytest.param(str(os.getpid()), own_name(), "stays", id="it runs"),
        pytest.param(str(os.getpid()), "dockerd", "goes", id="another program has its pid"),
        pytest.param("4194305", "dockerd", "goes", id="no such process"),
        pytest.param("", "dockerd", "stays", id="an empty file is none of our business"),
    ],
)
def test_only_the_pid_file_of_a_gone_engine_is_removed(
    text: str, program: str, stays: str, tmp_path: Path
) -> None:
    """CASE-75"""
    pid_file = tmp_path / "docker.pid"
    pid_file.write_text(text)
    clear_stale_pid_file(pid_file, program=program)
    assert pid_file.exists() is (stays == "stays")


def test_a_process_that_is_on_its_way_out_is_waited_for(tmp_path: Path) -> None:
    dying = subprocess.Popen(["sleep", "0.3"])
    pid_file = tmp_path / "containerd.pid"
    pid_file.write_text(str(dying.pid))
    clear_stale_pid_file(pid_file, program="sleep", patience_s=20)
    assert not pid_file.exists()
    dying.wait()


def test_the_pid_file_of_a_zombie_is_removed(tmp_path: Path) -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # ended, and not reaped: a zombie
    pid_file = tmp_path / "containerd.pid"
    pid_file.write_text(str(pid))
    clear_stale_pid_file(pid_file, program=own_name())
    assert not pid_file.exists()
