"""Results of tools as files in the sandbox of the run that called."""

from pathlib import Path

import pytest

from entrance.errors import Conflict, NotFound
from entrance.session import RunId, Session, TaskId
from orchestrator.ports import Sandbox
from orchestrator.runner.result_files import IGNORE, SandboxFiles
from tests.fakes.world import FakeWorld

RUN = RunId("run-1")
MINE = Session(RUN, TaskId("P/T"), "P", "bot", "10.0.0.2", "h")


@pytest.fixture
def fakes(tmp_path: Path) -> FakeWorld:
    return FakeWorld(tmp_path)


def files(fakes: FakeWorld, most_bytes: int = 100) -> SandboxFiles:
    world = fakes.world()
    fakes.sandboxes.live[RUN] = Sandbox("sb-1", "10.0.0.2", world.execd_token(RUN), {})
    return SandboxFiles(fakes.sandboxes, world.execd_token, most_bytes)


async def test_it_lies_beside_the_working_copy_where_git_sees_nothing_of_it(
    fakes: FakeWorld,
) -> None:
    path = await files(fakes).keep(MINE, "7-1.txt", b"long")
    assert path == "/workspace/.sandgate/results/7-1.txt"
    assert fakes.sandboxes.written == {path: b"long", IGNORE: b"*\n"}


async def test_a_run_has_so_much_of_it_and_no_more(fakes: FakeWorld) -> None:
    kept = files(fakes)
    await kept.keep(MINE, "7-1.txt", b"x" * 60)
    with pytest.raises(Conflict, match="already"):
        await kept.keep(MINE, "8-1.txt", b"x" * 60)
    await kept.keep(MINE, "9-1.txt", b"x" * 40)
    assert "/workspace/.sandgate/results/8-1.txt" not in fakes.sandboxes.written


async def test_a_sandbox_that_is_gone_is_said(fakes: FakeWorld) -> None:
    kept = files(fakes)
    fakes.sandboxes.live.clear()
    with pytest.raises(NotFound, match="gone"):
        await kept.keep(MINE, "7-1.txt", b"long")
