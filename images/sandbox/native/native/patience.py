"""What to do when the entrance or the provider behind it does not answer as it should: a table and one loop.

The entrance is away for a while when the runner restarts; nothing is lost if the loop waits.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

from native.events import Emit

Kind = Literal["away", "busy", "too_long", "final"]
"""too_long: the conversation is longer than the model takes; waiting won't help, shortening may."""
T = TypeVar("T")


@dataclass(frozen=True)
class Patience:
    """For how long it is tried again, from the first failure on, and the longest pause in between."""

    whole_s: float
    pause_s: float


PATIENCE: Mapping[Kind, Patience] = {
    "away": Patience(180.0, pause_s=5.0),
    "busy": Patience(900.0, pause_s=60.0),
    "too_long": Patience(-1.0, pause_s=0.0),
    "final": Patience(-1.0, pause_s=0.0),
}
_FIRST_PAUSE_S = 0.5

KINDS: Mapping[int, Kind] = {
    408: "away",
    409: "busy",
    413: "too_long",
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


def of_status(
    status: int,
    message: str,
    *,
    retry_after_s: float | None = None,
    kind: Kind | None = None,
) -> Trouble:
    """The trouble that an HTTP answer stands for; of this kind, where the status alone does not say."""
    kind = kind or KINDS.get(status, "final")
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
        Trouble: no waiting helps, or patience is over.
    """
    first_at: float | None = None
    tries = 0
    while True:
        try:
            return attempt()
        except Trouble as trouble:
            first_at = now() if first_at is None else first_at
            pause_s = _pause(trouble, tries)
            if now() - first_at + pause_s > PATIENCE[trouble.kind].whole_s:
                raise _given_up(trouble) from trouble
            emit("retry", reason=str(trouble), delay_s=round(pause_s, 3))
        sleep(pause_s)
        tries += 1


def _pause(trouble: Trouble, tries: int) -> float:
    if trouble.retry_after_s is not None:
        return trouble.retry_after_s
    return min(PATIENCE[trouble.kind].pause_s, _FIRST_PAUSE_S * float(2 ** min(tries, 10)))


def _given_up(trouble: Trouble) -> Trouble:
    """The same, with how long it would have had to be waited for, if that is known."""
    if trouble.retry_after_s is None:
        return trouble
    told = f"{trouble} (to be tried again in {trouble.retry_after_s:g} s: too long to wait)"
    return Trouble(told, trouble.kind, status=trouble.status, retry_after_s=trouble.retry_after_s)
