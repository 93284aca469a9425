"""Ids of records: 15 characters of a-z0-9, as PocketBase wants them."""

import secrets
import string

from entrance.session import RunId

LENGTH = 15
_ALPHABET = string.ascii_lowercase + string.digits


def new_id() -> str:
    """A fresh record id, 77 random bits. Made by us, so that a repeated request can't store twice."""
    number, letters = secrets.randbelow(len(_ALPHABET) ** LENGTH), ""
    for _ in range(LENGTH):  # drawn one by one, they would ask the system 26 times
        number, letter = divmod(number, len(_ALPHABET))
        letters += _ALPHABET[letter]
    return letters


def new_run_id() -> RunId:
    """A fresh run id; it is the id of the run's record too."""
    return RunId(new_id())
