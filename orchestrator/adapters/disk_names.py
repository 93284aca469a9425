"""Tasks' ids as names of folders [pure]."""

import hashlib
import re

from entrance.session import TaskId

LONGEST_SLUG = 120


def slug(task: TaskId) -> str:
    """A task's id as the name of a folder: readable, one to one, and never a path's trick.

    Letters, digits, `-` and `_` stay, `/` becomes `+`, all else `=` and its hex bytes; an id too
    long for a folder is cut and ends in `=~` and its hash. Raises: ValueError for an empty id.
    """
    if not task:
        raise ValueError("a task has an id")
    name = re.sub(r"[^A-Za-z0-9_/-]", _escape, task).replace("/", "+")
    if len(name) <= LONGEST_SLUG:
        return name
    digest = hashlib.sha256(task.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{name[: LONGEST_SLUG - 66]}=~{digest}"


def task_named(name: str) -> TaskId | None:
    """The reverse of `slug`; None for a name that was cut, or that it never makes."""
    try:
        task = TaskId(_ESCAPED.sub(_plain, name.replace("+", "/")))
        return task if slug(task) == name else None
    except ValueError:
        return None


_ESCAPED = re.compile(r"(?:=[0-9A-F]{2})+")


def _escape(found: re.Match[str]) -> str:
    return "".join(f"={byte:02X}" for byte in found[0].encode("utf-8", "surrogatepass"))


def _plain(found: re.Match[str]) -> str:
    return bytes.fromhex(found[0].replace("=", "")).decode("utf-8", "surrogatepass")
