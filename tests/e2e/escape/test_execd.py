"""execd, the agent's PID 1: it can be neither ended, nor read, nor used by the agent it watches."""

import re
from collections.abc import Mapping

import pytest

from tests.e2e.escape.agent import EXECD, Agent

pytestmark = [pytest.mark.docker, pytest.mark.timeout(180)]

PIDFD = "import os, signal, sys; signal.pidfd_send_signal(os.pidfd_open(int(sys.argv[1])), 9)"
SIGNALS = {
    "SIGKILL": "kill -9",
    "SIGSTOP": "kill -STOP",
    "SIGTERM": "kill -TERM",
    "a pidfd": f"python3 -c '{PIDFD}'",
}
LIMITS = ("--cpu=1:1", "--nofile=0:0", "--as=1:1", "--nproc=0:0")
FILES = (
    *("environ", "mem", "maps", "auxv", "io", "syscall", "fd/0", "task/{pid}/environ"),
    *("root/", "cwd/", "fd/", "map_files/"),
)
OUTPUTS = ("fd/1", "fd/2", "mem", "oom_score_adj")
OPENED = """
import json, os
def opened(pid, names, flags):
    found = {}
    for name in names:
        path = f"/proc/{pid}/" + name.format(pid=pid)
        try:
            os.close(os.open(path, flags))
            name.endswith("/") and os.listdir(path)
            found[name] = "opened"
        except OSError as error:
            found[name] = error.strerror
    return found
"""


@pytest.mark.parametrize("way", SIGNALS)
def test_execd_cannot_be_killed_or_stopped(mole: Agent, way: str) -> None:
    """No signal that an agent sends ends or stops the process that watches it."""
    send = SIGNALS[way]
    tried = mole.do(
        f"sleep 60 & P=$!; {send} $P; sleep 0.1; grep State /proc/$P/status || echo gone; "
        f"echo and; {send} 1; sleep 0.1; grep State /proc/1/status"
    )
    own, _, execd = tried.output.partition("and\n")
    assert re.search("gone|zombie|stopped", own), "the attack itself does not work"
    assert re.search(r"State:\t[RS]", execd)
    assert mole.execd_answers(mole.execd_token) == 200


@pytest.mark.parametrize("limit", LIMITS)
def test_execd_cannot_be_starved_by_a_limit(mole: Agent, limit: str) -> None:
    """An agent can't set resource limits on the process that watches it, though it has its uid."""
    own = mole.do(f"prlimit {limit} cat /proc/self/limits")
    works = own.code or re.search(r"(cpu time|processes) +[01] ", own.output)
    assert works, "the attack itself does not work"
    show = "cat /proc/1/limits"
    tried = mole.do(f"{show}; prlimit --pid 1 {limit}; echo and; {show}")
    before, _, after = tried.output.partition("and\n")
    assert "not permitted" in before
    assert before.startswith(after), "the limit was set"
    assert mole.execd_answers(mole.execd_token) == 200


@pytest.fixture(scope="module")
def opened(mole: Agent) -> Mapping[str, Mapping[str, str]]:
    """What opening each file said, of a process of the agent's own and of PID 1."""
    found: Mapping[str, Mapping[str, str]] = mole.python(
        OPENED
        + f"files, outputs = {FILES!r}, {OUTPUTS!r}\n"
        + "me = os.getpid()\n"
        + "print(json.dumps({"
        + "'own': opened(me, files, os.O_RDONLY) | opened(me, outputs, os.O_WRONLY),"
        + "'read': opened(1, files, os.O_RDONLY),"
        + "'write': opened(1, outputs, os.O_WRONLY)}))"
    )
    return found


@pytest.mark.parametrize("file", FILES)
def test_nothing_private_of_execd_can_be_read(
    opened: Mapping[str, Mapping[str, str]], file: str
) -> None:
    """Environment, memory and open files of PID 1 are closed to the agent: its token is in there."""
    assert opened["own"][file] == "opened"
    assert opened["read"][file] == "Permission denied"


@pytest.mark.parametrize("file", OUTPUTS)
def test_nothing_can_be_written_through_execd(
    mole: Agent, opened: Mapping[str, Mapping[str, str]], file: str
) -> None:
    """PID 1's output is no way onto the host's disk, past every quota: nothing reaches the engine's log."""
    assert opened["own"][file] == "opened"
    assert opened["write"][file] == "Permission denied"
    assert mole.container.logs() == b""


def test_execd_serves_nobody_without_its_token(mole: Agent) -> None:
    """The agent can call its own execd on loopback, and gets nothing: not without, not with its own token."""
    base = f"http://127.0.0.1:{EXECD}"
    paths = ("/command", "/files/info?path=/etc/passwd", "/metrics", "/proxy/1", "/ping")
    ask = "curl -s -o /dev/null -w '%{http_code} '"
    own = '-H "X-EXECD-ACCESS-TOKEN: $SANDGATE_RUN_TOKEN"'
    tried = mole.do("; ".join(f"{ask} {base}{path}; {ask} {own} {base}{path}" for path in paths))
    assert set(tried.output.split()) == {"401"}
    assert mole.execd_answers(mole.execd_token) == 200
    assert mole.execd_answers(None) == 401
