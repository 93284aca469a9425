"""What people do in the middle of a run or after it, and what signals do: the same for every harness."""

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from entrance.session import TaskId
from orchestrator.adapters.disk import TaskDisks
from orchestrator.harnesses import HARNESSES
from tests.e2e.harnesses.rows import Program, hire, how, whole
from tests.e2e.house import House
from tests.e2e.supervisor import decide

Run = Mapping[str, Any]


def at_work(lodge: House, program: Program, agent: str, repository: str | None = "") -> Run:
    """A run in the middle of a command; with `repository` None it is in the house's own."""
    hire(lodge, program, agent)
    task = lodge.task("STAY", agent=agent, repository=repository)
    run = lodge.wait(task, lambda run: run["state"] == "running")
    said = lodge.inside(run, "until [ -e /tmp/here ]; do sleep 0.1; done")
    assert said.code == 0, said
    return run


def cancelled(lodge: House, program: Program) -> Run:
    """How a run ends that a person cancels."""
    run = at_work(lodge, program, f"{program.short}-cancelled")
    lodge.runner.post(f"/api/runs/{run['id']}/cancel", {})
    return lodge.ended(run["task"])


def signalled(lodge: House, program: Program, signal: str) -> Run:
    """How a run ends whose harness gets a signal from nobody that we know."""
    run = at_work(lodge, program, f"{program.short}-{signal.lower()}")
    done = lodge.inside(run, f"pkill -{signal} -f '^{program.command}'")
    assert done.code == 0, done
    return lodge.ended(run["task"])


def sent_back(
    lodge: House, program: Program, damage: Callable[[Path], object] | None = None
) -> tuple[Run, Run]:
    """A run that hands in, and the one after its supervisor sent it back.

    `damage` is done in between to the file of the conversation.
    """
    agent = f"{program.short}-{damage.__name__ if damage else 'kept'}"
    hire(lodge, program, agent)
    task = lodge.task("HAND IN", agent=agent, repository="")
    first = lodge.ended(task)
    assert how(first) == ("submitted", "handed_over"), whole(first)
    if damage:
        asyncio.run(_damaged(lodge, program, first, damage))
    decide(lodge, task, "send_back", "Once more; the word is penguin")
    return first, after(lodge, first)


def after(lodge: House, run: Run) -> Run:
    """The run of its task that came after it, once it has ended."""
    return lodge.wait(
        run["task"], lambda newest: newest["id"] != run["id"] and newest["state"] == "ended"
    )


def lost(file: Path) -> None:
    """Remove it, as an agent that cleans up its home might."""
    file.unlink()


def emptied(file: Path) -> None:
    """Empty it, as a disk that fills up might."""
    file.write_bytes(b"")


def in_a_hostile_repository(lodge: House, program: Program) -> Run:
    """How a run ends in a repository whose settings for harnesses would have it run other things."""
    agent = f"{program.short}-hostile"
    hire(lodge, program, agent)
    return lodge.ended(lodge.task("HOSTILE", agent=agent))


def conversation(lodge: House, run: Run) -> str:
    """The id that the harness gave to its conversation."""
    whole = b"".join(lodge.runner.download(f"/api/runs/{run['id']}/transcript"))
    events = [json.loads(line) for line in whole.splitlines()]
    return next(
        str(event["data"]["conversation"]) for event in events if event.get("kind") == "started"
    )


async def _damaged(
    lodge: House, program: Program, run: Run, damage: Callable[[Path], object]
) -> None:
    disks = TaskDisks(lodge.here.tasks, size_bytes=1 << 30)
    home = (await disks.ensure(TaskId(run["task"]))).home
    try:
        pattern = HARNESSES[program.name].kept_at("*", "/workspace")
        found = list(home.glob(pattern.removeprefix("/home/agent/")))
        assert found, pattern
        for file in found:
            damage(file)
    finally:
        await disks.release(TaskId(run["task"]))
