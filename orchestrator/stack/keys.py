"""Key and token files of an installation: random, made once, readable by their owner only."""

import os
import secrets
from pathlib import Path

from entrance.errors import Malformed
from entrance.log.signing import new_key, public_of
from orchestrator.stack.steps import StepFailed


def make_key(path: Path) -> Path:
    """The file; it holds a fresh random token, mode 0600, if it wasn't there yet."""
    return path if path.exists() else keep(path, secrets.token_urlsafe(32))


def make_log_key(path: Path) -> Path:
    """The file with the egress log's private key; the public one lies beside it, as `.pub`.

    Raises: StepFailed when the private one is gone, or another: what it has signed must not be
    gone on with by a new one in silence.
    """
    public = path.with_suffix(".pub")
    if not path.exists() and not public.exists():
        keep(path, new_key())
    if trouble := _trouble_with(path, public):
        raise StepFailed(
            "The key that signs the egress log can't be used",
            why=trouble,
            what_to_do="Restore it; or move the log's folder and both key files away, to begin anew.",
        )
    return path


def _trouble_with(path: Path, public: Path) -> str:
    """Why the pair can't be used; the public key is made if it isn't there."""
    try:
        own = public_of(path.read_text())
    except (OSError, Malformed) as error:
        return str(error)
    return "" if keep(public, own).read_text() == own else f"{public} is another key's"


def keep(path: Path, text: str) -> Path:
    """The file, mode 0600; it holds `text` if it wasn't there yet.

    It is written aside and linked into place: two that start at once end up with one text, and a
    crash leaves no half of it.
    """
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        aside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        try:
            path.hardlink_to(aside)
        except FileExistsError:
            pass
        finally:
            aside.unlink()
    return path
