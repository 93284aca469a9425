"""Pushes that went to a host and whose result isn't recorded: settled by asking the host what it has.

Each has a note on the disk before its first byte goes on, gone once its result is recorded and vouched
for. A note that a crash left is settled after the next start.
"""

import asyncio
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import structlog
from pydantic import TypeAdapter, ValidationError

from entrance.errors import SandgateError
from entrance.git.receive_pack import hash_name_of
from entrance.git.upstream import GitHost
from entrance.log.records import Audit, Outcome
from entrance.ports import AcceptedPush, Moved, Witness

log = structlog.get_logger()

DELAYS_S: Sequence[float] = (1.0, 5.0, 30.0, 60.0, 300.0)
"""Before each time that the host is asked; the last one again and again."""
PATIENCE = 4
"""So many times the host may say that nothing moved before that is believed: it may be at work still."""
MOST = 300
"""After so many times, a day, nobody can tell."""
ASKED = "the host's answer was lost; it was asked afterwards what it has"
State = Literal["sent", "taken"]


@dataclass(frozen=True, slots=True)
class _Noted:
    """`sent`: what came of it isn't recorded. `taken`: it is, and only the witness is to be told."""

    push: AcceptedPush
    state: State = "sent"


_NOTED = TypeAdapter(_Noted)


class Unsettled:
    """The notes below `folder`. `begin` after a start; `close` at the end."""

    def __init__(
        self,
        folder: Path,
        host: GitHost,
        audit: Audit,
        witness: Witness | None,
        *,
        delays_s: Sequence[float] = DELAYS_S,
    ) -> None:
        self._folder = folder
        self._host = host
        self._audit = audit
        self._witness = witness
        self._delays_s = delays_s
        self._tasks: dict[int, asyncio.Future[None]] = {}

    def begin(self) -> None:
        """Settle what was left. Raises: OSError."""
        self._folder.mkdir(parents=True, exist_ok=True)
        for path in self._folder.glob("*.json"):
            try:
                noted = _NOTED.validate_json(path.read_bytes())
            except ValidationError:
                log.warning("note_of_a_push_unreadable", note=path.name)
                path.unlink(missing_ok=True)
                continue
            self._settle_beside(noted)

    async def close(self) -> None:
        """Stop asking; the notes stay. Idempotent."""
        tasks = tuple(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def note(self, push: AcceptedPush, state: State = "sent") -> None:
        """Write down that it goes on. Blocking. Raises: OSError."""
        session = replace(push.session, token_sha256="")
        text = _NOTED.dump_json(_Noted(replace(push, session=session), state))
        part = self._path(push).with_suffix(".part")
        with part.open("wb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(self._path(push))

    def forget(self, push: AcceptedPush) -> None:
        """Its result is recorded, and vouched for."""
        self._path(push).unlink(missing_ok=True)

    def settle(self, push: AcceptedPush, state: State = "sent") -> None:
        """Find out beside what became of it."""
        self._settle_beside(_Noted(push, state))

    def _path(self, push: AcceptedPush) -> Path:
        return self._folder / f"{push.decision}.json"

    def _settle_beside(self, noted: _Noted) -> None:
        number = noted.push.decision
        if number not in self._tasks:
            task = asyncio.ensure_future(self._settled(noted))
            self._tasks[number] = task
            task.add_done_callback(lambda _: self._tasks.pop(number, None))

    async def _settled(self, noted: _Noted) -> None:
        for count in range(MOST):
            await asyncio.sleep(self._delays_s[min(count, len(self._delays_s) - 1)])
            with suppress(SandgateError):
                if noted.state == "sent":
                    noted = await self._asked(noted, count)
                if noted.state == "taken":
                    await self._vouch(noted.push)
                    return
        await self._record(noted.push, "unknown", {})
        self.forget(noted.push)

    async def _asked(self, noted: _Noted, count: int) -> _Noted:
        """Raises: SandgateError when it can't be told yet."""
        push = noted.push
        wanted = frozenset(one.ref.encode("utf-8", "surrogateescape") for one in push.moved)
        hash_name = hash_name_of(push.moved[0].new)
        listing = await self._host.listing(push.repository, hash_name, wanted)
        where = {ref.decode("utf-8", "surrogateescape"): oid for ref, oid in listing.asked.items()}
        arrived = tuple(one for one in push.moved if where.get(one.ref) == one.new)
        if not arrived and count < PATIENCE - 1:
            return noted
        refs = {one.ref: _word(one, where) for one in push.moved}
        await self._record(push, "ok" if len(arrived) == len(push.moved) else "refused", refs)
        taken = _Noted(arrived_of(push, arrived), "taken")
        await asyncio.to_thread(self.note, taken.push, taken.state)
        return taken

    async def _vouch(self, push: AcceptedPush) -> None:
        if self._witness is not None and push.moved:
            await self._witness.accepted(push)
        self.forget(push)

    async def _record(self, push: AcceptedPush, result: str, refs: Mapping[str, str]) -> None:
        detail = {"unpack": "", "refs": refs, "trouble": ASKED}
        await self._audit.came_of_it(Outcome(push.decision, result, detail))


def arrived_of(push: AcceptedPush, arrived: tuple[Moved, ...]) -> AcceptedPush:
    """What the host has of a push. Where it is a part of it only, nobody knows any more which of the
    commits lead to which branch: then nothing is said but where the branches are.
    """
    if len(arrived) == len(push.moved):
        return push
    tips = tuple(sorted({one.new for one in arrived}))
    return replace(push, moved=arrived, commits=(), onto=tips)


def _word(moved: Moved, where: Mapping[str, str]) -> str:
    return "ok" if where.get(moved.ref) == moved.new else "ng not on the host"
