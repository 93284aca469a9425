"""How far a target has got, on the disk: one small file, held by one exporter at a time."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from entrance.errors import Conflict, Malformed
from orchestrator.egress.reader import Place

Count = Annotated[int, Field(ge=0)]


class Cursor(BaseModel):
    """After which line to go on. `sending` is where the batch ends that was on its way when this was kept."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    segment: Count = 0
    offset: Count = 0
    seq: Count = 0
    hash: str = ""
    """The hash of the last line that was sent: whether this is still the same log."""
    mark: str = ""
    """The target's own."""
    sending: tuple[Count, Count] | None = None

    @property
    def place(self) -> Place:
        """Where to read on."""
        return Place(self.segment, self.offset)

    @property
    def until(self) -> Place | None:
        """Where the batch ended that may be there already."""
        return Place(*self.sending) if self.sending else None


@dataclass(frozen=True, slots=True)
class CursorFile:
    """The file. `path` None: nothing is kept."""

    path: Path | None

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nobody else sends by this cursor meanwhile. Raises: Conflict, OSError."""
        if self.path is None:
            yield
            return
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = self.path.with_name(f".{self.path.name}.lock")
        with os.fdopen(os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise Conflict(f"another export sends by the cursor {self.path}") from error
            yield

    def read(self) -> Cursor:
        """What was kept; nothing was: from the first line on. Raises: Malformed, OSError."""
        if self.path is None or not self.path.exists():
            return Cursor()
        try:
            return Cursor.model_validate_json(self.path.read_bytes())
        except ValidationError as error:
            raise Malformed(f"{self.path} holds no cursor: remove it to send all anew") from error

    def keep(self, cursor: Cursor) -> None:
        """Keep it, whole and on the disk. Raises: OSError."""
        if self.path is None:
            return
        part = self.path.with_name(f".{self.path.name}.part")
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(cursor.model_dump_json().encode())
            file.flush()
            os.fdatasync(file.fileno())
        part.replace(self.path)
