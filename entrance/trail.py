"""Reads the audit file back: what was decided for one run, and what came of it."""

from pathlib import Path
from typing import Any

import orjson

from entrance.session import RunId


def trail(path: Path, run: RunId) -> list[dict[str, Any]]:
    """The run's audit lines, oldest first: its decisions, and the outcomes that point at them.

    Raises: OSError when the file can't be read. Blocking: call it in a thread.
    """
    if not path.exists():
        return []
    mark = b'"run":' + orjson.dumps(run)
    found: list[dict[str, Any]] = []
    decisions: set[int] = set()
    with path.open("rb") as file:
        for raw in file:
            # A cheap look first: most lines of a long file are of other runs.
            if mark not in raw and b'"kind":"outcome"' not in raw:
                continue
            line = orjson.loads(raw)
            if line.get("run") == run:
                decisions.add(line["seq"])
                found.append(line)
            elif line["kind"] == "outcome" and line["of"] in decisions:
                found.append(line)
    return found
