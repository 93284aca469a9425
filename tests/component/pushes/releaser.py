"""Processes that decide about a held push and send it: `python -m tests.component.pushes.releaser`.

It reads the names of plans, a line each, has each done by a process of its own, and prints its exit code.
Everything that they change lies in files, and at a real git host. One may be told to kill itself, as by
`kill -9`, just before or just after the n-th change of the world.
"""

import asyncio
import os
import signal
import sys
import traceback
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import aiohttp
from pydantic import TypeAdapter

from entrance.errors import Conflict
from entrance.git.held import HeldPacks
from entrance.git.release import Release
from entrance.git.upstream import GitHost, Service, client_session
from entrance.ports import AcceptedPush
from entrance.session import RepoGrant, TaskId
from orchestrator.adapters.held_pushes import HeldPushFiles
from orchestrator.approvals.deciding import Deciding
from orchestrator.approvals.handling import Decision
from orchestrator.approvals.items import Items
from orchestrator.approvals.push_sending import PushSending
from orchestrator.approvals.pushes import HeldPushes, PushHandling
from orchestrator.approvals.releasing import Releasing
from orchestrator.approvals.settling import Settling
from orchestrator.approvals.waking import Waking
from orchestrator.domain.approval import OPEN, Approval, ApprovalState, Verb
from orchestrator.domain.kinds import OWED, PUSH
from orchestrator.domain.run import Outcome, RunState
from orchestrator.domain.team import Grants, Repository
from tests.fakes.approvals import FakeApprovals, FakeRecord
from tests.fakes.clock import FakeClock
from tests.fakes.run import a_run
from tests.fakes.runs import FakeRuns
from tests.fakes.tracker import FakeTracker
from tests.fakes.world import AGENT, ENGAGEMENT, TASK
from tests.servers.git import FakeCredentials
from tests.servers.log import open_log

_ITEMS = TypeAdapter(dict[str, Approval])
LOOKS = 12
BETWEEN_LOOKS_S = 40.0
RUN = "run000000000000"


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do, and when to die. `at`: before (or `after`) which change; 0: never.

    `midway`: when a part of the push has been sent.
    """

    folder: Path
    url: str
    at: int = 0
    after: bool = False
    verb: str = "once"
    midway: bool = False


PLAN = TypeAdapter(Plan)


class Files(FakeApprovals):
    """The inbox in a file."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        if path.exists():
            self.items = _ITEMS.validate_json(path.read_bytes())

    async def create(self, item: Approval) -> None:
        await super().create(item)
        self._write()

    async def replace(self, item: Approval) -> None:
        await super().replace(item)
        self._write()

    def _write(self) -> None:
        part = self._path.with_suffix(".part")
        part.write_bytes(_ITEMS.dump_json(self.items))
        part.replace(self._path)


class Board(FakeTracker):
    """Polarion in files: what was said on the task, each once."""

    def __init__(self, folder: Path, **given: Any) -> None:
        super().__init__(**given)
        self._folder = folder

    async def comment(self, task: TaskId, title: str, text: str) -> None:
        note = self._folder / "said" / title.replace("/", "_").replace(" ", "_")
        lines = note.read_text().splitlines() if note.exists() else []
        if (line := " ".join(text.split())) not in lines:
            note.parent.mkdir(exist_ok=True)
            note.write_text("\n".join([*lines, line]))


class Kept(HeldPushFiles):
    """What is kept of held pushes, as the runner has it."""


class Notary:
    """Vouches in a file, once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def accepted(self, push: AcceptedPush) -> None:
        (self._folder / f"vouched-{push.approval}").write_text(" ".join(push.commits))


class Deadly:
    """Counts the changes of the world, and kills this process at one of them."""

    def __init__(self, plan: Plan) -> None:
        self._left, self._after = plan.at, plan.after

    def wrap(self, holder: object, name: str) -> None:
        inner: Callable[..., Awaitable[Any]] = getattr(holder, name)

        async def call(*args: Any, **kwargs: Any) -> Any:
            self._left -= 1
            if self._left == 0 and not self._after:
                os.kill(os.getpid(), signal.SIGKILL)
            result = await inner(*args, **kwargs)
            if self._left == 0 and self._after:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        object.__setattr__(holder, name, call)


class Cut(GitHost):
    """A way to the host on which this process dies when half of a push has gone out."""

    @asynccontextmanager
    async def request(
        self,
        grant: RepoGrant,
        service: Service,
        headers: Mapping[str, str],
        body: AsyncIterable[bytes] | bytes,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        sent = body if isinstance(body, bytes) else self._half(body)
        async with super().request(grant, service, headers, sent) as answer:
            yield answer

    async def _half(self, body: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
        async for chunk in body:
            yield chunk[: len(chunk) // 2]
            os.kill(os.getpid(), signal.SIGKILL)


class Wakes:
    """A task that waits for input is answered once."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "answered"

    async def wake(self, task: TaskId, words: str, user: str) -> None:
        if self._file.exists():
            raise Conflict(f"{task} doesn't wait any more")
        self._file.write_text(f"{user}: {words}")


async def act(plan: Plan) -> None:
    """Decide about it if nobody has, and look until nothing is left to do."""
    folder = plan.folder
    clock = FakeClock()
    started = folder / "started"
    clock.advance(3600.0 * len(started.read_text()) if started.exists() else 0)
    with started.open("a") as file:
        file.write("x")
    who = {"id": RUN, "task": TASK.id, "project": "DEMO", "agent": AGENT.bot}
    run = a_run(**who, engagement=ENGAGEMENT.id, state=RunState.ENDED, outcome=Outcome.ASKED)
    runs = FakeRuns()
    await runs.create(run)
    grants = Grants(repositories=(Repository(plan.url, credential="host"),))
    tracker = Board(
        folder,
        tasks=[replace(TASK, repository=plan.url)],
        agents=[AGENT],
        engagements=[replace(ENGAGEMENT, grants=grants)],
    )
    store, wakes, notary = Files(folder / "inbox.json"), Wakes(folder), Notary(folder)
    log = open_log(folder / "log", now=clock.now)
    packs = HeldPacks(folder / "held")
    kept = Kept(packs, clock)
    async with client_session() as http:
        host = (Cut if plan.midway else GitHost)(http, FakeCredentials())
        hosts = Release(host, packs)
        deadly = Deadly(plan)
        for holder, names in (
            (store, ("replace",)),
            (log, ("decided", "came_of_it")),
            (hosts, ("send",)),
            (tracker, ("comment",)),
            (wakes, ("wake",)),
            (notary, ("accepted",)),
            (kept, ("drop",)),
        ):
            for name in names:
                deadly.wrap(holder, name)
        waking = Waking(store, runs, wakes.wake)
        sending = PushSending(hosts, kept, store, runs, tracker, log, notary)
        settling = Settling(store, tracker, waking, {PUSH: sending})
        releasing = Releasing(store, clock, log, {PUSH: sending}, settling)
        handlings = {PUSH: PushHandling(releasing, patience_s=0)}
        deciding = Deciding(store, runs, tracker, clock, FakeRecord(), handlings, waking)
        if not store.items:
            await HeldPushes(Items(store, runs, tracker, clock), kept).ask(
                packs.list()[0].record.push
            )
        for item in list(store.items.values()):
            if item.state is ApprovalState.WAITING:
                await deciding.decide(item.id, Decision(Verb(plan.verb), "lead"))
        for _ in range(LOOKS):
            await releasing.look()
            clock.advance(BETWEEN_LOOKS_S)
    await log.close()
    assert all(is_over(item) for item in store.items.values()), store.items


def is_over(item: Approval) -> bool:
    return item.state not in OPEN and not item.came.get(OWED)


def done(plan: Path, act: Callable[[Plan], Coroutine[Any, Any, None]]) -> int:
    """Have it done by a child, which has all that is imported here already; its exit code."""
    child = os.fork()
    if child == 0:
        code = 1
        os.dup2(2, 1)  # what is logged is not for whoever waits for the code
        try:
            asyncio.run(act(PLAN.validate_json(plan.read_bytes())))
            code = 0
        except BaseException:  # noqa: BLE001 - told by its exit code, and not as this process
            traceback.print_exc()
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def serve(act: Callable[[Plan], Coroutine[Any, Any, None]]) -> None:
    """Have each plan done whose file is named on a line of the standard input."""
    for line in sys.stdin:
        os.write(1, f"{done(Path(line.strip()), act)}\n".encode())


if __name__ == "__main__":
    serve(act)
