"""What the log is told of a push. Never a secret: places and names of kinds."""

from collections.abc import Mapping
from typing import Any

from entrance.git.checks.facts import Brought
from entrance.git.checks.judging import Judgement
from entrance.git.quarantine.taking import Taken
from entrance.git.receive_pack import PushHead
from entrance.git.refs import RefUpdate

_FILES, _LONGEST_PATH = 100, 200
"""So many changed files are recorded, and so many bytes of each name."""


def updates_of(
    head: PushHead, refusals: Mapping[bytes, str], refused: Taken | None = None
) -> dict[str, Any]:
    """Where its refs were to go, and why not. In the names of what was read and `refused` no secret stands;
    what may go on is told as it is, since whoever verifies a commit holds the log against it.
    """
    updates = [
        {
            "ref": _shown(update, refused),
            "old": update.old,
            "new": update.new,
            "refused": refusals.get(update.ref, ""),
        }
        for update in head.updates
    ]
    return {"updates": updates}


def _shown(update: RefUpdate, refused: Taken | None) -> str:
    name = refused.brought.masked(update.ref) if refused else update.ref
    return name.decode("utf-8", "backslashreplace")


def facts_of(taken: Taken | None, judgement: Judgement | None = None) -> dict[str, Any]:
    """How much it was, how long each step took, and what was found; nothing where it was not taken in."""
    if taken is None:
        return {}
    brought = taken.brought
    return {
        "commits": len(brought.commits),
        "objects": len(brought.objects),
        "pack_bytes": brought.pack_bytes,
        "ms": dict(taken.ms),
        **_files(brought),
        **({"findings": _findings(judgement)} if judgement else {}),
    }


def _files(brought: Brought) -> dict[str, Any]:
    """The paths that it changes, for whoever reviews it: the first of them, and how many more."""
    paths = sorted({brought.masked(change.path) for change in brought.changes})
    told = [path[:_LONGEST_PATH].decode("utf-8", "backslashreplace") for path in paths[:_FILES]]
    return {"files": told, "files_left_out": len(paths) - len(told)}


def _findings(judgement: Judgement) -> list[dict[str, str]]:
    """What was found, also what is only noted."""
    return [
        {"rule": one.rule, "mode": one.mode.value, "said": str(one)} for one in judgement.findings
    ]
