"""Sends a push that was allowed to its host: the very bytes; the host's own report goes back.

Its intent is recorded before, and noted on disk; what came of it after. What became of a push whose
answer was lost is asked of the host later (see `unsettled`).
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import structlog
from aiohttp import hdrs

from entrance.errors import SandgateError, Unavailable
from entrance.git.checks.facts import Commit
from entrance.git.quarantine.incoming import pieces_of
from entrance.git.quarantine.quarantine import Quarantine
from entrance.git.quarantine.taking import Taken
from entrance.git.receive_pack import PushHead
from entrance.git.relay import Relay
from entrance.git.report import Report, ReportReader
from entrance.git.unsettled import State, Unsettled
from entrance.git.upstream import GitHost
from entrance.log.body_hash import BodyHash
from entrance.log.records import Audit, Outcome, Traffic
from entrance.ports import AcceptedPush, Witness

log = structlog.get_logger()
GONE = "the sandbox left before the answer"


@dataclass(frozen=True, slots=True)
class Forwarded:
    """What came of it. `trouble`: why the host's answer is not whole; empty when it is."""

    report: Report
    trouble: str
    begun: bool
    """Whether any of the host's answer has gone to the sandbox."""


class Forwarder:
    """Sends pushes on."""

    def __init__(
        self,
        host: GitHost,
        audit: Audit,
        quarantine: Quarantine,
        witness: Witness | None,
        unsettled: Unsettled,
    ) -> None:
        self._host = host
        self._quarantine = quarantine
        self._audit = audit
        self._witness = witness
        self._unsettled = unsettled

    async def forward(
        self,
        push: AcceptedPush,
        head: PushHead,
        taken: Taken,
        *,
        relay: Relay,
        headers: Mapping[str, str],
        sent: BodyHash,
    ) -> Forwarded:
        """Send it. Raises: Unavailable when what came of it can't be recorded."""
        reader = ReportReader(head.capabilities)
        length: dict[str, str] = {hdrs.CONTENT_LENGTH: str(taken.received.size_bytes)}
        bytes_of_it = pieces_of(taken.incoming.body, 0)
        source = self._host.request(
            push.repository, "git-receive-pack", {**headers, **length}, bytes_of_it
        )
        trouble, before = GONE, relay.came.bytes
        await self._noted(push, "sent")
        try:
            error = await relay.pass_on(source, reader.feed)
            trouble = str(error or "")
        finally:
            report = reader.report()
            told = all(one.ref in report.refs for one in push.moved)
            if report.result == "unknown" or (report.unpack == "ok" and not told):
                self._unsettled.settle(push)
            else:
                await self._came_of_it(push, report, trouble, Traffic.of(sent, relay.came))
                await self._vouched(push, report, taken)
        return Forwarded(report, trouble, begun=relay.came.bytes > before)

    async def _came_of_it(
        self, push: AcceptedPush, report: Report, trouble: str, moved: Traffic
    ) -> None:
        detail = {"unpack": report.unpack, "refs": dict(report.refs), "trouble": trouble}
        await self._audit.came_of_it(Outcome(push.decision, report.result, detail, moved))

    async def _vouched(self, push: AcceptedPush, report: Report, taken: Taken) -> None:
        """Have what was taken vouched for; later, when it can't be now."""
        part = part_of(push, report, taken.brought.commits)
        if part.moved:
            await self._quarantine.absorb(taken, part.moved)
        try:
            if self._witness is not None and part.moved:
                await self._witness.accepted(part)
        except SandgateError as error:
            log.warning("push_not_vouched_for_yet", decision=push.decision, error=str(error))
            await self._noted(part, "taken")
            self._unsettled.settle(part, "taken")
            return
        await asyncio.to_thread(self._unsettled.forget, push)

    async def _noted(self, push: AcceptedPush, state: State) -> None:
        try:
            await asyncio.to_thread(self._unsettled.note, push, state)
        except OSError as error:
            raise Unavailable(f"the push can't be noted: {error.strerror}") from error


def part_of(push: AcceptedPush, report: Report, commits: Sequence[Commit]) -> AcceptedPush:
    """What the host has taken of it: the refs, and the commits that they lead to."""
    moved = tuple(one for one in push.moved if report.refs.get(one.ref) == "ok")
    if len(moved) == len(push.moved):
        return push
    parents = {commit.oid: commit.parents for commit in commits}
    reached: set[str] = set()
    ahead = [one.new for one in moved]
    while ahead:
        oid = ahead.pop()
        if oid in parents and oid not in reached:
            reached.add(oid)
            ahead.extend(parents[oid])
    kept = tuple(oid for oid in push.commits if oid in reached)
    return replace(push, moved=moved, commits=kept)
