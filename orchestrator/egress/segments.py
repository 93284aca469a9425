"""The log's segments on the disk, as far as a reader must know them.

Nothing here is trusted: whether a segment is what was written is for `verify` to say.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from entrance.errors import NotFound, Unavailable

_SEGMENT = re.compile(r"egress-([0-9]{8})\.jsonl")


class Seal(BaseModel):
    """What of a segment's seal a reader uses."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    first_seq: int
    last_seq: int
    head: str
    sealed_at: datetime


@dataclass(frozen=True, slots=True)
class Segment:
    """One segment's file. `seal` None: lines may still be added, or its seal can't be read."""

    number: int
    path: Path
    seal: Seal | None


def numbered(folder: Path) -> Sequence[tuple[int, Path]]:
    """The number and the file of every segment in the folder, oldest first.

    Raises: NotFound when there is no log, Unavailable when it can't be read.
    """
    try:
        paths = sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotFound(f"there is no egress log at {folder}") from error
    except OSError as error:
        raise Unavailable(f"the egress log at {folder} can't be read: {error.strerror}") from error
    found = ((_SEGMENT.fullmatch(path.name), path) for path in paths)
    return [(int(match[1]), path) for match, path in found if match]


def segments(folder: Path) -> Sequence[Segment]:
    """Every segment with its seal, oldest first. Raises: NotFound, Unavailable."""
    return [Segment(number, path, seal_of(path)) for number, path in numbered(folder)]


def reaching(found: Sequence[Segment], since: datetime | None) -> Sequence[Segment]:
    """Those segments that may hold something from `since` on."""
    if since is None:
        return found
    return [one for one in found if one.seal is None or one.seal.sealed_at >= since]


def seal_of(path: Path) -> Seal | None:
    """The seal beside a segment's file; None when there is none that can be read."""
    try:
        return Seal.model_validate_json(path.with_suffix(".seal.json").read_bytes())
    except (OSError, ValidationError):
        return None
