"""An egress log for tests, with a key that is always the same."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from entrance.disk import Disk
from entrance.log.egress_log import EgressLog
from entrance.log.segments import Rules
from entrance.log.shelf import Shelf
from entrance.log.signing import Signer
from entrance.log.verify import Report, verify
from entrance.ports import Causes

AT = datetime(2026, 1, 5, tzinfo=UTC)


def signer(seed: bytes = b"k") -> Signer:
    """A key pair; another one for each seed."""
    return Signer(Ed25519PrivateKey.from_private_bytes(seed * 32))


def open_log(
    folder: Path,
    rules: Rules | None = None,
    *,
    now: Callable[[], datetime] = lambda: AT,
    causes: Causes | None = None,
    disk: Disk | None = None,
) -> EgressLog:
    """The log in a folder. It is closed by whoever needs another to write it."""
    return EgressLog(
        folder, signer(), now, installation="sgtest", rules=rules, causes=causes, disk=disk
    )


def lines_in(folder: Path) -> list[dict[str, Any]]:
    """All its lines, of all segments that are there."""
    shelf = Shelf(folder)
    raw = b"".join(shelf.segment(number).read_bytes() for number in shelf.segments())
    return [orjson.loads(line) for line in raw.split(b"\n")[:-1]]


def text_of(folder: Path) -> str:
    """Everything that is written in it, as it is written; files with a dot are about to be others."""
    return "".join(path.read_text() for path in sorted(folder.glob("[!.]*")) if path.is_file())


def verified(folder: Path) -> Report:
    """What `verify` says of it."""
    return verify(Shelf(folder), signer().trust)
