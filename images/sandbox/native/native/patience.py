"""What to do when the entrance or the provider behind it does not answer as it should: a table and one loop.

The entrance is away for a while when the runner restarts; nothing is lost if the loop waits.
"""

import time
from collections.abc import Callable, Mapping
from typing import Literal, TypeVar

from native.events import Emit

Kind = Literal["away", "busy", "final"]
T = TypeVar("T")

PATIENCE_S: Mapping[Kind, float] = {"away": 180.0, "busy": 900.0, "final": -1.0}
"""For how long it is tried again, from the first failure on."""
_LONGEST_PAUSE_S: Mapping[Kind, float] = {"away": 5.0, "busy": 60.0, "final": 0.0}
_FIRST_PAUSE_S = 0.5

KINDS: Mapping[int, Kind] = {
    408: "away",
    409: "busy",
    429: "busy",
    500: "busy",
    502: "away",
    503: "away",
    504: "away",
    529: "busy",
}
"""HTTP status -> kind; whatever is not here is final."""


class Trouble(Exception):
    """A request did not work out. `status` is the HTTP status, if there was an answer."""

    def __init__(
        self,
        reason: str,
        kind: Kind = "final",
        *,
        status: int | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(reason)
        self.kind = kind
        self.status = status
        self.retry_after_s = retry_after_s


def of_status(status: int, message: str, retry_after: str | None) -> Trouble:
    """The trouble that an HTTP answer stands for."""
    try:
        retry_after_s = None if retry_after is None else max(0.0, float(retry_after))
    except ValueError:  # a date: not worth its reading, the pauses do
        retry_after_s = None
    kind = KINDS.get(status, "final")
    return Trouble(f"{status}: {message}", kind, status=status, retry_after_s=retry_after_s)


def persist(
    attempt: Callable[[], T],
    emit: Emit,
    *,
    sleep: Callable[[float], None] = time.sleep,
    now: Callable[[], float] = time.monotonic,
) -> T:
    """Try until it works or patience is over; each wait is a `retry` event.

    Raises:
        Trouble: final, or its patience is over.
    """
    first_at: float | None = None
    tries = 0
    while True:
        try:
            return attempt()
        except Trouble as trouble:
            first_at = now() if first_at is None else first_at
            pause_s = _pause(trouble, tries)
            if now() - first_at + pause_s > PATIENCE_S[trouble.kind]:
                raise
            emit("retry", reason=str(trouble), delay_s=round(pause_s, 3))
        sleep(pause_s)
        tries += 1


def _pause(trouble: Trouble, tries: int) -> float:
    if trouble.retry_after_s is not None:
        return trouble.retry_after_s
    return min(_LONGEST_PAUSE_S[trouble.kind], _FIRST_PAUSE_S * float(2 ** min(tries, 10)))
