"""Ids of records: 15 characters of a-z0-9, as PocketBase wants them."""

import secrets
import string

from entrance.session import RunId

LENGTH = 15
_ALPHABET = string.ascii_lowercase + string.digits


def new_id() -> str:
    """A fresh record id, 77 random bits. Made by us, so that a repeated request can't store twice."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(LENGTH))


def new_run_id() -> RunId:
    """A fresh run id; it is the id of the run's record too."""
    return RunId(new_id())
