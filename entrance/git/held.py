"""Pushes that wait for a person: each in a folder of its own, with all that a later release needs.

`<folder>/<id>/` has `body` (the very bytes of the push, commands and pack), `objects/` (what git made
of the pack, to be looked at beside the repository's mirror) and `record.json`. A folder gets its name
when all of that is on the disk, so that half of one is never taken for a push. Methods block.
"""

import hashlib
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from entrance.errors import NotFound, Unavailable
from entrance.ports import HeldPush, Moved
from entrance.session import RunId, Session

BODY, OBJECTS, RECORD = "body", "objects", "record.json"
_ID = re.compile(r"[0-9a-f]{32}")
_LEAVING = ".leaving-"


def hold_id(run: RunId, repository: str, moved: Sequence[Moved]) -> str:
    """The id of a held push: the same push, asked again, is the same hold."""
    told = [run, repository, *(f"{one.ref} {one.old} {one.new}" for one in moved)]
    return hashlib.sha256("\0".join(told).encode("utf-8", "surrogateescape")).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class HeldRecord:
    """What is known of a held push. `push.session` is as it was then, without its token."""

    push: HeldPush
    capabilities: tuple[str, ...]
    """As the client sent them: they say how the host's report is to be read."""
    head_bytes: int
    """So much of the body is its commands; the pack is the rest."""
    mirror: str = ""
    """The folder of the repository's mirror, which has what `objects` builds on."""


@dataclass(frozen=True, slots=True)
class HeldPack:
    """A held push in its folder."""

    record: HeldRecord
    folder: Path

    @property
    def body(self) -> Path:
        return self.folder / BODY

    @property
    def objects(self) -> Path:
        return self.folder / OBJECTS


_RECORD = TypeAdapter(HeldRecord)


class HeldPacks:
    """The held pushes below `folder`, which is made when it is missing."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, received: Path, record: HeldRecord) -> HeldPack:
        """Keep a received push, whose folder (with `body` and `objects`) is moved here.

        One that is kept already stays as it is, and `received` is left to its owner.
        Raises: Unavailable when the disk doesn't take it.
        """
        try:
            return self.get(record.push.id)
        except NotFound:
            pass
        target = self._folder / record.push.id
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            # One that can't be read is of no use: it was cut short by a crash of the machine.
            shutil.rmtree(target, ignore_errors=True)
            _write(received / RECORD, _RECORD.dump_json(_without_token(record)))
            _sync(received / BODY)
            received.rename(target)
            _sync(self._folder)
        except OSError as error:
            raise Unavailable(f"the push can't be kept for a person: {error.strerror}") from error
        return self.get(record.push.id)

    def get(self, held: str) -> HeldPack:
        """The push that is kept under this id. Raises: NotFound."""
        folder = self._folder / held
        try:
            if not _ID.fullmatch(held):
                raise NotFound("a held push's id is 32 hex digits")
            record = _RECORD.validate_json((folder / RECORD).read_bytes())
        except (OSError, ValidationError) as error:
            raise NotFound(f"no push is held as {held}") from error
        if record.push.id != held:
            raise NotFound(f"no push is held as {held}")
        return HeldPack(record, folder)

    def list(self) -> tuple[HeldPack, ...]:
        """All of them, by id; what can't be read is passed over."""
        found: list[HeldPack] = []
        for folder in sorted(self._folder.glob("*")):
            try:
                found.append(self.get(folder.name))
            except NotFound:
                continue
        return tuple(found)

    def mirrors(self) -> frozenset[Path]:
        """The mirrors that they build on."""
        return frozenset(Path(one.record.mirror) for one in self.list() if one.record.mirror)

    def drop(self, held: str) -> None:
        """Remove it. One that isn't there is no trouble."""
        if not _ID.fullmatch(held):
            return
        leaving = self._folder / f"{_LEAVING}{held}"
        shutil.rmtree(leaving, ignore_errors=True)
        try:
            (self._folder / held).rename(leaving)
        except FileNotFoundError:
            return
        shutil.rmtree(leaving, ignore_errors=True)

    def sweep(self) -> None:
        """Remove what a crash left of pushes that were being dropped."""
        for leaving in self._folder.glob(f"{_LEAVING}*"):
            shutil.rmtree(leaving, ignore_errors=True)


def _without_token(record: HeldRecord) -> HeldRecord:
    session: Session = replace(record.push.session, token_sha256="")
    return replace(record, push=replace(record.push, session=session))


def _write(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    _sync(path)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
