"""Does the agent go round in circles: the same call, the same result, again and again?"""

import hashlib
import json
from collections import deque
from typing import Any

WARN_AT = 3
STOP_AT = 6
_WINDOW = 24
"""Calls looked back upon: a circle of up to four different calls is still noticed."""


class Circles:
    """Counts calls that were made before with the same result."""

    def __init__(self) -> None:
        self._seen: deque[bytes] = deque(maxlen=_WINDOW)

    def note(self, name: str, given: Any, text: str) -> int:
        """How often this call has now come with this result, among the last ones."""
        said = json.dumps([name, given, text], sort_keys=True)
        digest = hashlib.sha256(said.encode()).digest()
        self._seen.append(digest)
        return self._seen.count(digest)


def hint(times: int) -> str:
    """What the model is told when it repeats itself."""
    if times < WARN_AT:
        return ""
    return (
        f"\n[The same call with the same result, {times} times now."
        f" At {STOP_AT} the run ends: do something else.]"
    )
