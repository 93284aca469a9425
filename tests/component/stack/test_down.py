"""Taking an installation down and away: what is said, what stays, and that another is not touched."""

import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from entrance.errors import Unavailable
from entrance.session import RunId
from orchestrator.adapters.frozen_files import FrozenFiles
from orchestrator.stack.down import PROGRAMS, down, purge
from orchestrator.stack.installation import FILE, Installation
from orchestrator.stack.pids import marked
from orchestrator.stack.process import Program
from orchestrator.stack.remains import NoEngine
from orchestrator.stack.steps import StepFailed
from tests.fakes.frozen import FROZEN

SLEEPS = "import time; print('up', flush=True); time.sleep(120)"
STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
    "print('up', flush=True); time.sleep(120)"
)


class FakeRemains:
    """`Remains` in memory; one that is `stuck` can't be removed."""

    def __init__(self) -> None:
        self.boxes = ["sandbox-1", "sandbox-2"]
        self.rest = ["network sg", "nft table sg", "image sandgate/sg-sandbox:1"]
        self.stuck = ""

    def containers(self, spare: frozenset[str] = frozenset()) -> Iterator[str]:
        going = [box for box in self.boxes if box not in spare]
        self.boxes = [box for box in self.boxes if box in spare]
        yield from self._take(going)

    def everything_else(self) -> Iterator[str]:
        assert not self.boxes, "a network with containers on it can't be removed"
        yield from self._take(self.rest)

    def _take(self, things: list[str]) -> Iterator[str]:
        while things:
            if things[0] == self.stuck:
                raise StepFailed("not everything could be removed", why=f"{things[0]} is in use")
            yield f"removed {things.pop(0)}"


def program(here: Installation, name: str, code: str = SLEEPS) -> Program:
    return Program(
        name=name,
        argv=(sys.executable, "-I", "-c", code),
        log=here.log / f"{name}.log",
        pid_file=here.run / f"{name}.pid",
        env={"LANG": "C.UTF-8"},
    )


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Installation]:
    yield from installed(tmp_path / "one")


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Installation]:
    yield from installed(tmp_path / "two")


def installed(home: Path) -> Iterator[Installation]:
    """An installation with a few programs that run."""
    here = Installation.open(home, create=True)
    running = [program(here, name) for name in ("runner", "polarion", "githost")]
    for one in running:
        one.start()
        one.wait_ready(lambda one=one: "up" in one.log_tail(), timeout_s=30)  # type: ignore[misc]
    pids = [one.pid() for one in running]
    yield here
    for pid in pids:
        if pid and Path(f"/proc/{pid}").exists():
            os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def alive(here: Installation) -> set[str]:
    return {name for name in PROGRAMS if program(here, name).alive()}


def test_the_runner_goes_first_then_sandboxes_then_the_rest(here: Installation) -> None:
    assert list(down(here, FakeRemains())) == [
        "stopped runner",
        "removed sandbox-1",
        "removed sandbox-2",
        "stopped githost",
        "stopped polarion",
    ]
    assert not alive(here)
    assert (here.home / FILE).exists()
    assert list(down(here, NoEngine(here, ""))) == [], "a second time there is nothing to stop"


def test_a_frozen_sandbox_stays_until_all_of_it_is_purged(here: Installation) -> None:
    FrozenFiles(here.frozen).save(replace(FROZEN, run=RunId("sandbox-1")))
    remains = FakeRemains()
    said = list(down(here, remains))
    assert "removed sandbox-2" in said
    assert said[-1].startswith("kept the frozen sandbox of sandbox-1")
    assert remains.boxes == ["sandbox-1"]
    assert "removed sandbox-1" in list(purge(here, remains))


def test_nothing_of_another_installation_is_touched(
    here: Installation, other: Installation
) -> None:
    (other.data("polarion") / "x").write_text("kept")
    list(purge(here, FakeRemains()))
    assert not here.home.exists()
    assert alive(other) == {"runner", "polarion", "githost"}
    assert (other.data("polarion") / "x").read_text() == "kept"


def test_purging_says_all_that_it_removes(here: Installation) -> None:
    said = list(purge(here, FakeRemains()))
    assert said == [
        "stopped runner",
        "removed sandbox-1",
        "removed sandbox-2",
        "stopped githost",
        "stopped polarion",
        "removed network sg",
        "removed nft table sg",
        "removed image sandgate/sg-sandbox:1",
        f"removed {here.home}",
    ]
    assert not here.home.exists()


def test_a_repository_that_is_served_where_it_lies_stays_whole(
    here: Installation, tmp_path: Path
) -> None:
    mine = tmp_path / "mine" / ".git"
    mine.mkdir(parents=True)
    (mine / "HEAD").write_text("ref: refs/heads/main\n")
    link = here.data("githost") / "local" / "abc" / "mine.git"
    link.parent.mkdir(parents=True)
    link.symlink_to(mine, target_is_directory=True)
    (here.home / "to-a-folder").symlink_to(mine.parent, target_is_directory=True)
    list(purge(here, FakeRemains()))
    assert (mine / "HEAD").read_text() == "ref: refs/heads/main\n"


def test_a_purge_that_breaks_off_can_be_done_again(here: Installation) -> None:
    remains = FakeRemains()
    remains.stuck = "nft table sg"
    with pytest.raises(StepFailed, match="nft table sg is in use"):
        list(purge(here, remains))
    assert (here.home / FILE).exists(), "it is still an installation"
    remains.stuck = ""
    again = Installation.open(here.home, create=False)
    assert list(purge(again, remains)) == [
        "removed nft table sg",
        "removed image sandgate/sg-sandbox:1",
        f"removed {here.home}",
    ]


def test_a_program_that_does_not_listen_is_killed(here: Installation) -> None:
    stubborn = program(here, "model", STUBBORN)
    pid = stubborn.start()
    stubborn.wait_ready(lambda: "up" in stubborn.log_tail(), timeout_s=30)
    said = list(down(here, FakeRemains(), grace_s=0.3))
    assert "stopped model" in said
    assert not stubborn.alive()
    assert pid


def test_another_up_or_down_at_work_is_not_disturbed(here: Installation) -> None:
    with here.only_one(), pytest.raises(StepFailed, match=r"Another .* is at work"):
        list(down(here, FakeRemains()))
    assert alive(here) == {"runner", "polarion", "githost"}


def test_a_program_whose_pid_file_is_gone_is_stopped_too(
    here: Installation, other: Installation
) -> None:
    (here.run / "polarion.pid").unlink()
    assert "stopped polarion" in list(purge(here, FakeRemains()))
    assert not marked_in(here)
    assert len(marked_in(other)) == 3


def marked_in(here: Installation) -> list[str]:
    return [file.stem for file in marked() if file.parent == here.run]


def test_a_pid_that_another_process_has_now_is_left_alone(here: Installation) -> None:
    ours = program(here, "runner").pid()
    (here.run / "model.pid").write_text(f"{ours} 1\n")
    assert "stopped model" not in list(down(here, FakeRemains()))


@pytest.mark.parametrize("docker_host", ["tcp://docker.example:2376"])
def test_without_an_answer_of_the_engine_nothing_is_forgotten(
    here: Installation, docker_host: str
) -> None:
    """Else its network and images would stay for ever, and nobody would know whose they are."""
    with pytest.raises(StepFailed, match="the Docker engine doesn't answer"):
        list(purge(here, NoEngine(here, docker_host)))
    assert (here.home / FILE).exists()
    assert not alive(here), "what could be stopped is stopped"


class Mounted(FakeRemains):
    """A disk that is still in use."""

    def containers(self, spare: frozenset[str] = frozenset()) -> Iterator[str]:
        raise Unavailable("umount: target is busy")
        yield


def test_a_failure_below_is_not_swallowed(here: Installation) -> None:
    with pytest.raises(Unavailable, match="busy"):
        list(purge(here, Mounted()))
    assert (here.home / FILE).exists()
