"""Services with real processes: what restarts them, what doesn't, and what is said when one fails."""

import os
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.stack.process import Program, answers_tcp
from orchestrator.stack.services import Service, fingerprint
from orchestrator.stack.steps import Step, StepFailed
from tests.servers.pocketbase import free_port

LISTENS = """
import socket, sys, time
with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as server:
    print("listening", flush=True)
    while True:
        server.accept()[0].close()
"""
DIES = "import sys; print('no such luck'); sys.exit(3)"

Make = Callable[..., Service]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[Service] = []
    port = free_port()

    def service(
        code: str = LISTENS, env: Mapping[str, str] | None = None, content: str = ""
    ) -> Service:
        program = Program(
            name="the listener",
            argv=(sys.executable, "-I", "-c", code, str(port)),
            log=tmp_path / "listener.log",
            pid_file=tmp_path / "run" / "listener.pid",
            env=env or {},
        )
        made.append(Service(program, port, lambda: answers_tcp("127.0.0.1", port), content))
        return made[-1]

    yield service
    for one in made:
        one.program.stop(grace_s=1)


def ensure(service: Service) -> list[str]:
    """Have it running; what was said to be done."""
    said: list[str] = []
    service.ensure(Step("x", said.append))
    return said


def test_the_same_program_keeps_running(make: Make) -> None:
    assert ensure(make()) == ["starting the listener"]
    pid = make().program.pid()
    assert ensure(make()) == []
    assert make().program.pid() == pid


def test_one_whose_pid_file_is_lost_is_not_in_its_own_way(make: Make) -> None:
    ensure(make())
    lost = make().program.pid()
    make().program.pid_file.unlink()
    assert ensure(make()) == ["starting the listener"]
    assert make().program.pid() not in (None, lost)


@pytest.mark.parametrize(
    "changes",
    [{"env": {"SANDGATE_X": "2"}}, {"content": "newer code"}, {"code": LISTENS + "\n# newer"}],
    ids=["its environment", "its code", "its command"],
)
def test_a_program_that_is_to_run_differently_is_restarted(
    make: Make, changes: Mapping[str, object]
) -> None:
    ensure(make())
    pid = make().program.pid()
    assert ensure(make(**changes)) == ["restarting the listener: it is to run differently now"]
    assert make().program.pid() not in {pid, None}
    assert ensure(make(**changes)) == []


def test_another_shell_is_no_reason_to_restart(make: Make) -> None:
    ensure(make(env={"PATH": "/bin", "LANG": "C", "LC_ALL": "C"}))
    assert ensure(make(env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"})) == []
    assert ensure(make(env={"HTTPS_PROXY": "http://proxy.example"})) != []


def test_one_that_died_is_started_again(make: Make) -> None:
    ensure(make())
    make().program.stop(grace_s=1)
    assert ensure(make()) == ["starting the listener"]


def test_a_port_that_another_has_is_a_sentence_and_nothing_is_started(make: Make) -> None:
    service = make()
    with (
        socket.create_server(("127.0.0.1", service.port)),
        pytest.raises(StepFailed, match=f"can't listen on 127.0.0.1:{service.port}") as failed,
    ):
        ensure(service)
    assert f"(pid {os.getpid()})" in failed.value.why, "who has it"
    assert not service.program.alive()
    assert ensure(service) == ["starting the listener"], "it breaks nothing for the next try"


def test_one_that_ends_while_it_starts_shows_the_end_of_its_log(make: Make) -> None:
    with pytest.raises(StepFailed, match="ended while it started") as failed:
        ensure(make(code=DIES))
    assert "no such luck" in failed.value.why
    assert ensure(make()) == ["starting the listener"]


def test_what_it_said_in_an_earlier_life_explains_nothing(make: Make) -> None:
    ensure(make())
    make().program.stop()
    with pytest.raises(StepFailed) as failed:
        ensure(make(code=DIES))
    assert failed.value.why == "no such luck"


def test_the_fingerprint_tells_the_parts_apart() -> None:
    program = Program("x", ("a", "b"), Path("l"), Path("p"), env={"A": "1"})
    others = [
        fingerprint(replace(program, argv=("a b",))),
        fingerprint(replace(program, argv=("a",))),
        fingerprint(replace(program, env={"A": "2"})),
        fingerprint(replace(program, env={"A": "1", "B": ""})),
        fingerprint(program, "code"),
    ]
    assert len({fingerprint(program), *others}) == 6
    assert fingerprint(replace(program, log=Path("m"))) == fingerprint(program)
