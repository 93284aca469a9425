"""Harnesses that an installation has been asked for: kept in its home, so that a plain `up` keeps them.

The sandbox of MCP servers is asked for like one.
"""

from collections.abc import Iterable

import orjson
from pydantic import TypeAdapter, ValidationError

from orchestrator.ports.sandboxes import STDIO
from orchestrator.stack.harness_programs import HARNESS_PROGRAMS
from orchestrator.stack.installation import Installation
from orchestrator.stack.steps import StepFailed

FILE = "harnesses.json"
_NAMES = TypeAdapter(list[str])
_KNOWN = (*HARNESS_PROGRAMS, STDIO)


def wished(here: Installation, more: Iterable[str] = ()) -> tuple[str, ...]:
    """The harnesses asked for so far, and `more`; without the native loop, which is always there.

    Raises: StepFailed when the file can't be read or names one that isn't known.
    """
    file = here.home / FILE
    try:
        kept = _NAMES.validate_json(file.read_bytes()) if file.exists() else []
    except ValidationError as error:
        raise _unreadable(here, "it is no list of names") from error
    unknown = sorted(set(kept) - set(_KNOWN))
    if unknown:
        raise _unreadable(here, f"this version of Sandgate knows no {', '.join(unknown)}")
    asked = {*kept, *more}
    return tuple(name for name in _KNOWN if name in asked)


def keep(here: Installation, harnesses: Iterable[str]) -> None:
    """Remember them; to be called once their images are there: what never worked isn't tried again."""
    file = here.home / FILE
    part = file.with_suffix(".part")
    part.write_bytes(orjson.dumps(list(harnesses)))
    part.replace(file)


def _unreadable(here: Installation, why: str) -> StepFailed:
    return StepFailed(
        "The installation's harnesses can't be read",
        why=f"{here.home / FILE}: {why}",
        what_to_do="Remove the file, and add them again: `sandgate up --harness NAME`.",
    )
