"""Holds a push: keeps it on disk, and has a person asked about it."""

import asyncio

import structlog

from entrance.errors import NotFound, SandgateError
from entrance.git.checks.judging import Judgement
from entrance.git.held import HeldPacks, HeldRecord, hold_id
from entrance.git.quarantine.taking import Taken
from entrance.git.receive_pack import PushHead
from entrance.ports import HeldPush, Moved, PushInbox
from entrance.session import RepoGrant, Session

log = structlog.get_logger()

NOBODY = "it would have to wait for a person, and nobody can be asked here"


class Holding:
    """Without an `inbox` there is nobody to ask, and nothing is kept."""

    def __init__(self, packs: HeldPacks, inbox: PushInbox | None) -> None:
        self._packs = packs
        self._inbox = inbox

    async def hold(
        self,
        session: Session,
        grant: RepoGrant,
        *,
        head: PushHead,
        taken: Taken,
        judgement: Judgement,
        decision: int,
    ) -> str:
        """What the agent is told of it, on one line."""
        if self._inbox is None:
            return f"{NOBODY}: {judgement.decision.reason}"
        moved = tuple(Moved(update.name, update.old, update.new) for update in head.updates)
        push = HeldPush(
            id=hold_id(session.run, grant.url, moved),
            session=session,
            repository=grant,
            moved=moved,
            commits=tuple(commit.oid for commit in taken.brought.commits),
            reasons=judgement.reasons,
            decision=decision,
            sha256=taken.received.sha256,
            size_bytes=taken.received.size_bytes,
            onto=taken.brought.onto,
            findings=tuple(str(one) for one in judgement.findings),
        )
        record = HeldRecord(
            push, tuple(sorted(head.capabilities)), len(head.raw), str(taken.mirror.folder)
        )
        waits = await asyncio.to_thread(self._waits, push.id)
        try:
            kept = await asyncio.to_thread(self._packs.keep, taken.incoming.folder, record)
            said = await self._inbox.ask(kept.record.push)
        except SandgateError as error:
            log.warning("push_not_held", decision=decision, error=str(error))
            if not waits:
                await asyncio.to_thread(self._packs.drop, push.id)
            return f"it would have to wait for a person, and nobody could be asked: {error}"
        return said

    def _waits(self, held: str) -> bool:
        try:
            self._packs.get(held)
        except NotFound:
            return False
        return True
