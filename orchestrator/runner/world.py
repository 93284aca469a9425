"""What the steps work with, and the two ways in which they change a run: `amend` and `note`."""

import hashlib
import hmac
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from entrance.errors import Conflict
from entrance.model.provider import dialect_of
from entrance.push_policy import PushPolicy
from entrance.session import RunId
from orchestrator.domain.heard import heard
from orchestrator.domain.run import Run, changed
from orchestrator.ports import (
    Clock,
    Disks,
    Event,
    GitHosts,
    Harness,
    NoGitHosts,
    Runs,
    Sandboxes,
    Tracker,
)
from orchestrator.runner.doings import Doings
from orchestrator.runner.freezes import Freezes
from orchestrator.runner.live import Live
from orchestrator.runner.outputs import Outputs
from orchestrator.runner.ports import Door, Egress, NoEgress, NoServers, Servers

OWN = "phase"
"""The kind of event that is ours; a harness's own lines never have it."""
_LONGER = 1.5
RACES = 20
"""So often a lost compare-and-set is tried again before it is given up."""


type Unnumbered = Sequence[tuple[str, Mapping[str, Any]]]
"""Events before they have a number: kind and data."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What every run is held to. Seconds, US dollars."""

    deadline_s: float
    silence_s: float
    limit_usd: Decimal
    heartbeat_s: float
    poll_s: float = 0.1
    """Between two reads of a harness's output, while it says something or asks for something."""
    quiet_poll_s: float = 1.0
    """The longest pause between two: a read goes through three programs, and most find nothing."""
    attention_s: float = 15.0
    """So long a run is followed at most before the world is observed again."""
    handover_s: float = 30.0
    """A harness that goes on for so long after the agent handed over is interrupted."""
    last_word_s: float = 20.0
    """A process that goes on for so long after its harness said that it was over has hung."""
    last_gasp_s: float = 6.0
    """So long an interrupted harness is waited for."""

    def longer(self, pause_s: float) -> float:
        """The next pause, after one in which nothing was said."""
        return min(pause_s * _LONGER, max(self.poll_s, self.quiet_poll_s))


@dataclass(frozen=True, slots=True)
class World:
    """Everything that the steps use."""

    clock: Clock
    tracker: Tracker
    runs: Runs
    disks: Disks
    sandboxes: Sandboxes
    door: Door
    harnesses: Mapping[str, Harness]
    offered: frozenset[str]
    """Those of the harnesses whose program is in a sandbox image here."""
    live: Live
    freezes: Freezes
    trail: Callable[[Run], Awaitable[Sequence[Mapping[str, Any]]]]
    """The egress log's lines of a run, oldest first."""
    limits: Limits
    entrance: str
    """The door's base URL as a sandbox sees it."""
    transcripts: Path
    outputs: Outputs
    """What harnesses said, as they said it."""
    execd_key: bytes = field(repr=False)
    honey_key: bytes = field(repr=False)
    """What honeytokens are derived from; empty: sandboxes get none."""
    attested: Callable[[RunId], Sequence[Path]] = lambda _: ()
    """The attestations of a run's pushes, oldest first. Blocking."""
    egress: Egress = field(default_factory=NoEgress)
    servers: Servers = field(default_factory=NoServers)
    pushes: PushPolicy = field(default_factory=PushPolicy)
    """What is asked of every run's pushes."""
    githosts: GitHosts = field(default_factory=NoGitHosts)
    doings: Doings = field(default_factory=Doings)
    """What each run is doing now."""
    hear_ended: list[Callable[[Run], None]] = field(default_factory=list)
    """Are told of each run that has ended; they must not raise."""
    dialects: Mapping[str, str] = field(default_factory=dict)
    """What model providers speak, as far as an operator has said so."""
    _whole: set[RunId] = field(init=False, repr=False, default_factory=set)
    """Runs whose stored events are known to be counted."""

    def unspoken(self, harness: str, model: str) -> str:
        """Why a harness can't talk to a model, as a sentence without its end; empty when it can."""
        provider = model.partition(":")[0]
        dialect = self.dialects.get(provider) or dialect_of(provider)
        known = self.harnesses.get(harness)
        if known is None or dialect in known.speaks:
            return ""
        speaks = " or ".join(sorted(known.speaks))
        return (
            f"{harness} speaks the API of {speaks}, but the provider of {model} that of {dialect}: "
            "choose another model or harness"
        )

    def execd_token(self, run: RunId) -> str:
        """The access token of a run's execd: derived, so that it needn't be stored anywhere.

        It opens that one sandbox and nothing else.
        """
        return execd_token(self.execd_key, run)

    async def amend(self, run: RunId, change: Callable[[Run], Run | None]) -> Run:
        """Read a run, change it, store it; again from the start when someone else was faster.

        `change` returns the run with its version one higher, or None when nothing is to be changed.
        Raises: NotFound, Unavailable, Conflict when it keeps losing.
        """
        for _ in range(RACES):
            now = await self.runs.get(run)
            wanted = change(now)
            if wanted is None:
                return now
            try:
                await self.runs.replace(wanted)
            except Conflict:
                continue
            self.live.tell(run)
            return wanted
        raise Conflict(f"run {run} is being changed by others all the time")

    async def note(self, run: RunId, kind: str, data: Mapping[str, Any]) -> Run:
        """Add one event of our own to a run."""
        return await self.tell(run, [(kind, data)])

    async def note_once(self, run: RunId, kind: str, data: Mapping[str, Any]) -> None:
        """`note`, unless the newest event says the same: what is tried again says why it waits once."""
        now = await self.counted(run)
        newest = [event async for event in self.runs.events(run, now.events - 2)]
        if not newest or (newest[-1].kind, newest[-1].data) != (kind, data):
            await self.note(run, kind, data)

    async def tell(
        self, run: RunId, said: Unnumbered, cursor: int | None = None, *, unkept: Unnumbered = ()
    ) -> Run:
        """Add events, and remember up to which line of the harness's output they reach.

        Of `unkept` nothing is stored but what it tells of the run itself.

        They are stored first and counted then: whoever dies in between loses nothing, and
        `counted` makes it good. One writer a run: the queue works on a task once at a time.
        """
        now, at = await self.counted(run), self.clock.now()
        self._whole.discard(run)
        for _ in range(RACES):
            events = [Event(now.events + n, at, kind, data) for n, (kind, data) in enumerate(said)]
            await self.runs.add_events(run, events)
            told = heard(changed(now, events=now.events + len(said)), [*said, *unkept], at)
            if cursor is not None:
                told = replace(told, cursor=cursor, heard_at=at)
            try:
                await self.runs.replace(told)
            except Conflict:
                now = await self.runs.get(run)
                continue
            self._whole.add(run)
            last = told.events - 1
            self.doings.heard(run, [*events, *(Event(last, at, *each) for each in unkept)])
            self.live.tell(run)
            return told
        raise Conflict(f"run {run} is being changed by others all the time")

    async def counted(self, run: RunId) -> Run:
        """The run, with all its stored events counted: also those of a `tell` that was cut short.

        To be called before the harness's output is read on: the cursor may have moved.
        """
        now = await self.runs.get(run)
        if run in self._whole:
            return now
        stray = [event async for event in self.runs.events(run, now.events - 1)]
        if stray:
            now = await self.amend(run, lambda r: _with(r, stray))
        self._whole.add(run)
        return now


def execd_token(key: bytes, run: RunId) -> str:
    """See `World.execd_token`."""
    return hmac.new(key, b"execd:" + run.encode(), hashlib.sha256).hexdigest()


def _with(run: Run, stray: Sequence[Event]) -> Run:
    """Every event but our own is one line of the harness's output."""
    lines = sum(event.kind != OWN for event in stray)
    counted = changed(run, events=run.events + len(stray), cursor=run.cursor + lines)
    return heard(counted, [(event.kind, event.data) for event in stray], stray[-1].at)
