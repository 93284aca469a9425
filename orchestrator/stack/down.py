"""Takes an installation down, or away.

The egress proxy goes first: it tells the runner what came of what it let out. Then the runner, so that
it takes nothing of what follows for a crash; then the sandboxes, which have no door any more. Runs that
were going on stay as they are stored: the next `up` finds their sandboxes gone and ends them as failed,
`sandbox_lost`, with their record and a word on the task. What they pushed, and their disks, stay.
"""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack

from orchestrator.adapters.disk import release_all
from orchestrator.adapters.frozen_files import FrozenFiles
from orchestrator.domain.frozen import Frozen
from orchestrator.settings import Environment
from orchestrator.stack.installation import FILE, Installation
from orchestrator.stack.pids import stop_recorded
from orchestrator.stack.remains import Remains, remains_of
from orchestrator.stack.steps import StepFailed

BEFORE_SANDBOXES = ("egress-proxy", "runner")
AFTER_SANDBOXES = ("githost", "model", "opensandbox", "polarion", "pocketbase", "watchdog")
PROGRAMS = (*BEFORE_SANDBOXES, *AFTER_SANDBOXES)
GRACE_S = 15.0


def down(
    here: Installation, remains: Remains | None = None, *, grace_s: float = GRACE_S
) -> Iterator[str]:
    """Stop everything that runs of it; what it made stays, frozen sandboxes too. Says what it stopped.

    `remains` is what lies outside the home; by default what the engine has. A program that doesn't
    end within `grace_s` is killed.
    Raises: StepFailed when a part can't be stopped.
    """
    with ExitStack() as stack:
        outside = remains or stack.enter_context(_outside(here))
        stack.enter_context(here.only_one())
        frozen = FrozenFiles(here.frozen).load()
        yield from _stop(here, outside, grace_s, frozen)
        for one in frozen:
            yield f"kept the frozen sandbox of {one.run} (`sandgate frozen show {one.run}`)"


def purge(here: Installation, remains: Remains | None = None) -> Iterator[str]:
    """Stop it and remove every trace, data included. Says what it removed. Raises: StepFailed.

    The file that makes the home an installation goes last: what breaks off can be done again.
    """
    with ExitStack() as stack:
        outside = remains or stack.enter_context(_outside(here))
        stack.enter_context(here.only_one())
        yield from _stop(here, outside, GRACE_S)
        yield from outside.everything_else()
        _remove_home(here)
    yield f"removed {here.home}"


def _outside(here: Installation) -> AbstractContextManager[Remains]:
    return remains_of(here, Environment().docker_host)


def _stop(
    here: Installation, remains: Remains, grace_s: float, spare: Sequence[Frozen] = ()
) -> Iterator[str]:
    yield from _stopped(here, BEFORE_SANDBOXES, grace_s)
    yield from remains.containers(frozenset(one.run for one in spare))
    for folder in release_all(here.tasks, frozenset(one.task for one in spare)):
        yield f"unmounted {folder}"
    yield from _stopped(here, AFTER_SANDBOXES, grace_s)


def _stopped(here: Installation, names: Sequence[str], grace_s: float) -> Iterator[str]:
    for name in names:
        if stop_recorded(here.run / f"{name}.pid", grace_s=grace_s):
            yield f"stopped {name}"


def _remove_home(here: Installation) -> None:
    try:
        for entry in here.home.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            elif entry.name != FILE:
                entry.unlink()
        (here.home / FILE).unlink()
        here.home.rmdir()
    except OSError as error:
        raise StepFailed(
            f"{here.home} could not be removed",
            why=str(error),
            what_to_do="Something may still be using it; run the same command again.",
        ) from error
