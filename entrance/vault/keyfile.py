"""The installation's key, in a file of its own that only its owner can read."""

import asyncio
import hashlib
import os
import secrets
import stat
from pathlib import Path

from entrance.errors import Forbidden, Malformed
from entrance.vault.seal import KEY_BYTES, Keyring
from entrance.vault.vault import SecretStore

NAMED = 8
"""So many of the secrets that a lost key has shut are named."""
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


async def open_keyring(path: Path, store: SecretStore) -> Keyring:
    """The key in the file; a fresh one, mode 0600, when there is no file and nothing is sealed yet.

    A key that is lost is never replaced in silence: a fresh one would open nothing that is sealed.
    Raises: Forbidden when it is lost, others may read it, or it is a link or not ours; Malformed
    when the file does not hold exactly one key; Unavailable.
    """
    there = await asyncio.to_thread(path.exists, follow_symlinks=False)
    if not there and (sealed := sorted(await store.names())):
        more = ", ..." if len(sealed) > NAMED else ""
        raise Forbidden(
            f"the vault's key is lost: {path} is not there, and no other key opens what is sealed"
            f" ({len(sealed)}: {', '.join(sealed[:NAMED])}{more}). Put the file back from a copy;"
            " if there is none, `sandgate secret reset` forgets what is sealed"
        )
    return load_or_make(path)


def load_or_make(path: Path) -> Keyring:
    """The key in the file; a fresh one, mode 0600, when there is no file yet.

    Raises: Forbidden when others may read it, or it is a link or not ours; Malformed when it
    does not hold exactly one key.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    _make(path)
    return load(path)


def _make(path: Path) -> None:
    # Written aside and linked into place: two processes that start at once end up with one key,
    # and a crash in mid-write leaves no half of one.
    aside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    if path.exists(follow_symlinks=False):
        return
    handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
        try:
            path.hardlink_to(aside)
        except FileExistsError:
            return
    finally:
        aside.unlink()


def load(path: Path) -> Keyring:
    """The key in the file. Raises: Forbidden, Malformed, as `load_or_make`."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError as error:
        raise Forbidden(f"the key file {path} can't be opened: {error.strerror}") from error
    with os.fdopen(handle, "rb") as file:
        facts = os.fstat(file.fileno())
        if not stat.S_ISREG(facts.st_mode) or facts.st_uid != os.geteuid():
            raise Forbidden(f"the key file {path} must be a plain file of the user that runs this")
        if facts.st_mode & _OTHERS:
            raise Forbidden(f"others may read the key file {path}: chmod 600 it, and change keys")
        key = file.read(KEY_BYTES + 1)
    if len(key) != KEY_BYTES:
        raise Malformed(f"the key file {path} must hold {KEY_BYTES} bytes")
    kid = hashlib.sha256(key).hexdigest()[:8]
    return Keyring(kid, {kid: key})
