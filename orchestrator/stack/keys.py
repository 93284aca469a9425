"""Key and token files of an installation: random, made once, readable by their owner only."""

import secrets
from pathlib import Path


def make_key(path: Path) -> Path:
    """The file; it holds a fresh random token, mode 0600, if it wasn't there yet."""
    if not path.exists():
        part = path.with_suffix(".part")
        part.unlink(missing_ok=True)
        part.touch(mode=0o600)
        part.write_text(secrets.token_urlsafe(32))
        part.replace(path)
    return path
