"""A held push, what is kept of it, and a git host that does what it is told to."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from entrance.errors import Conflict, NotFound, Unavailable
from entrance.git.preview import Preview
from entrance.git.release import Sent, Wanted
from entrance.git.report import Report
from entrance.git.standing import Stand, stand_of
from entrance.log.records import Traffic
from entrance.ports import AcceptedPush, HeldPush, Moved
from entrance.session import RepoGrant, Session
from orchestrator.approvals.deciding import Decided
from orchestrator.approvals.handling import Decision
from orchestrator.approvals.ports import KeptPushes, PushHosts
from orchestrator.approvals.push_sending import PushSending
from orchestrator.approvals.pushes import HeldPushes, PushHandling
from orchestrator.approvals.releasing import Releasing
from orchestrator.approvals.settling import Settling
from orchestrator.domain.approval import Verb
from orchestrator.domain.grants import door_name
from orchestrator.domain.kinds import PUSH
from orchestrator.domain.pushes import RecordedPush
from orchestrator.domain.run import Run, RunState
from tests.fakes.approvals import Inbox
from tests.fakes.audit import FakeAudit
from tests.fakes.run import a_run
from tests.fakes.world import AGENT, ENGAGEMENT, REPOSITORY, TASK

ZERO, OLD, NEW, OTHER = "0" * 40, "a" * 40, "b" * 40, "c" * 40
REF = "refs/heads/agent/DEMO-7/fix"
BODY = b"the very bytes"
REASON = "a workflow file is changed: .github/workflows/ci.yml"


def a_push(run: Run, **changes: Any) -> HeldPush:
    """A push of the run that is held; it makes one branch."""
    push = HeldPush(
        id="f" * 32,
        session=Session(run.id, run.task, run.project, run.agent, "10.0.0.2", "hash"),
        repository=RepoGrant(door_name(REPOSITORY), REPOSITORY, push=True),
        moved=(Moved(REF, ZERO, NEW),),
        commits=(NEW,),
        reasons=(REASON,),
        decision=41,
        sha256=sha256(BODY).hexdigest(),
        size_bytes=len(BODY),
    )
    return replace(push, **changes)


@dataclass
class FakeKept:
    """`orchestrator.approvals.ports.KeptPushes`. `down`: nothing can be removed."""

    pushes: dict[str, HeldPush] = field(default_factory=dict)
    bodies: dict[str, bytes] = field(default_factory=dict)
    old: list[str] = field(default_factory=list)
    down: bool = False
    shown: Preview = field(default_factory=lambda: Preview((), (), ""))

    def keep(self, push: HeldPush, body: bytes = BODY) -> None:
        self.pushes[push.id], self.bodies[push.id] = push, body

    async def push(self, push: str) -> HeldPush:
        if push not in self.pushes:
            raise NotFound(f"no push is held as {push}")
        return self.pushes[push]

    async def preview(self, push: str) -> Preview:
        await self.push(push)
        return self.shown

    async def drop(self, push: str) -> None:
        if self.down:
            raise Unavailable("the disk is away")
        self.pushes.pop(push, None)
        self.bodies.pop(push, None)

    async def left_over(self) -> Sequence[str]:
        return self.old


@dataclass
class FakePushHosts:
    """`orchestrator.approvals.ports.PushHosts`: a host with refs.

    `does`: what it does with a push: `take`, `refuse`, take it and `lose` the answer, or `drop` all.
    """

    kept: FakeKept
    refs: dict[str, str] = field(default_factory=dict)
    does: str = "take"
    down: bool = False
    asked: int = 0
    posts: list[bytes] = field(default_factory=list)

    async def stand(self, grant: RepoGrant, moved: Sequence[Moved]) -> Stand:
        self.asked += 1
        if self.down:
            raise Unavailable("the git host can't be reached")
        return stand_of(moved, self.refs)

    async def check(self, wanted: Wanted) -> None:
        if wanted.push not in self.kept.bodies:
            raise NotFound("the bytes of the push are gone")
        if sha256(self.kept.bodies[wanted.push]).hexdigest() != wanted.sha256:
            raise Conflict("the bytes of the push are not those that were held")

    async def send(self, grant: RepoGrant, wanted: Wanted) -> Sent:
        await self.check(wanted)
        if self.down:
            return Sent(Report(), Traffic(), "the git host can't be reached")
        self.posts.append(self.kept.bodies[wanted.push])
        stands = all(self.refs.get(one.ref, ZERO) == one.old for one in wanted.moved)
        if self.does in {"take", "lose"} and stands:
            self.refs |= {one.ref: one.new for one in wanted.moved}
        if self.does in {"lose", "drop"}:
            return Sent(Report(), Traffic(), "the git host broke off")
        taken = self.does == "take" and stands
        told = {one.ref: "ok" if taken else "ng hook declined" for one in wanted.moved}
        return Sent(Report("ok", told), Traffic(bytes_out=len(BODY)))


@dataclass
class FakeWitness:
    """`entrance.ports.Witness`: what it was told, each once."""

    told: list[AcceptedPush] = field(default_factory=list)
    down: bool = False

    async def accepted(self, push: AcceptedPush) -> None:
        if self.down:
            raise Unavailable("the disk is away")
        if push not in self.told:
            self.told.append(push)


@dataclass
class FakePushLog:
    """`orchestrator.api.pushes.PushLog`: what it is told that the log has, newest first."""

    recorded: list[RecordedPush] = field(default_factory=list)
    down: bool = False

    async def newest(self, *, run: str, task: str, limit: int) -> Sequence[RecordedPush]:
        self._up()
        found = [one for one in self.recorded if run in {"", one.run} and task in {"", one.task}]
        return found[:limit]

    async def one(self, seq: int) -> Sequence[RecordedPush]:
        self._up()
        return [one for one in self.recorded if seq in {one.seq, one.of_held}]

    def _up(self) -> None:
        if self.down:
            raise Unavailable("the egress log can't be read")


@dataclass
class PushHouse:
    """The inbox, with what pushes need of the world."""

    inbox: Inbox
    kept: FakeKept = field(default_factory=FakeKept)
    audit: FakeAudit = field(default_factory=FakeAudit)
    witness: FakeWitness = field(default_factory=FakeWitness)

    def __post_init__(self) -> None:
        self.hosts = FakePushHosts(self.kept)
        self.pushes = HeldPushes(self.inbox.items, self.kept)
        self.start()

    def start(self, hosts: PushHosts | None = None, kept: KeptPushes | None = None) -> None:
        """As after a start of the process: nothing is remembered but what is stored."""
        fakes = self.inbox.fakes
        sending = PushSending(
            hosts or self.hosts,
            kept or self.kept,
            self.inbox.told,
            fakes.runs,
            fakes.tracker,
            self.audit,
            self.witness,
        )
        sendings = {PUSH: sending}
        settling = Settling(self.inbox.told, fakes.tracker, self.inbox.waking, sendings)
        self.releasing = Releasing(
            self.inbox.told, fakes.clock, self.audit, sendings, settling, every_s=0.01
        )
        self.inbox.more = {PUSH: PushHandling(self.releasing, patience_s=5)}

    async def running(self, **changes: Any) -> Run:
        """A run of the agent that goes on."""
        who = {"task": TASK.id, "project": "DEMO", "engagement": ENGAGEMENT.id, "agent": AGENT.bot}
        run = a_run(**{**who, "state": RunState.RUNNING, **changes})
        await self.inbox.fakes.runs.create(run)
        return run

    async def held(self, push: HeldPush) -> str:
        """The push is kept and asked about: its item."""
        self.kept.keep(push)
        await self.pushes.ask(push)
        return next(
            one.id for one in self.inbox.store.items.values() if one.wanted["kept"] == push.id
        )


@asynccontextmanager
async def releasing(house: PushHouse) -> AsyncIterator[None]:
    """The loop goes on inside the block."""
    async with asyncio.TaskGroup() as tasks:
        loop = tasks.create_task(house.releasing.run())
        try:
            yield
        finally:
            loop.cancel()


async def decide(house: PushHouse, item: str, verb: Verb = Verb.ONCE, note: str = "") -> Decided:
    """A person decides, and what comes of it at once is waited for."""
    async with releasing(house):
        return await house.inbox.deciding.decide(item, Decision(verb, note=note))


async def allow(house: PushHouse, item: str) -> None:
    """A person allows it; the item is as it is stored before anything is sent."""
    handling = house.inbox.more["push"]
    house.inbox.more["push"] = replace(handling, patience_s=0)  # type: ignore[type-var]
    await house.inbox.deciding.decide(item, Decision(Verb.ONCE))
    house.inbox.more["push"] = handling
