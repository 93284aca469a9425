"""What to do when the entrance or the provider behind it does not answer as it should: a table and one loop.

The entrance is away for a while when the runner restarts; nothing is lost if the loop waits.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

from native.events import Emit

Kind = Literal["away", "busy", "too_long", "final"]
"""too_long: the conversation is longer than the model takes; waiting won't help, shortening may."""
T = TypeVar("T")


@dataclass(frozen=True)
class Patience:
    """For how long it is tried again, from the first failure on, how often, and the longest pause.

    A pause that the other side asks for may be longer.
    """

    whole_s: float
    tries: int
    pause_s: float


PATIENCE: Mapping[Kind, Patience] = {
    "away": Patience(180.0, tries=1000, pause_s=5.0),
    "busy": Patience(900.0, tries=7, pause_s=30.0),
    "too_long": Patience(0.0, tries=0, pause_s=0.0),
    "final": Patience(0.0, tries=0, pause_s=0.0),
}
"""away: nobody answers, or the connection broke. busy: an answer that says to try again, or none that
is whole; for about a minute, which is what a limit a minute takes to lift, unless it asks for longer."""
_FIRST_PAUSE_S = 0.5

KINDS: Mapping[int, Kind] = {
    408: "busy",
    409: "busy",
    413: "too_long",
    429: "busy",
    500: "busy",
    502: "busy",
    503: "busy",
    504: "busy",
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
    tries: Counter[Kind] = Counter()
    while True:
        try:
            return attempt()
        except Trouble as trouble:
            first_at = now() if first_at is None else first_at
            pause_s = _pause(trouble, tries[trouble.kind])
            over = _over(trouble, tries[trouble.kind], now() - first_at + pause_s)
            if over is not None:
                raise Trouble(f"{trouble}{over}", trouble.kind, status=trouble.status) from trouble
            emit("retry", reason=str(trouble), delay_s=round(pause_s, 3))
            tries[trouble.kind] += 1
        sleep(pause_s)


def _pause(trouble: Trouble, tries: int) -> float:
    if trouble.retry_after_s is not None:
        return trouble.retry_after_s
    return min(PATIENCE[trouble.kind].pause_s, _FIRST_PAUSE_S * float(2 ** min(tries, 10)))


def _over(trouble: Trouble, tries: int, until_s: float) -> str | None:
    """What is said of the end of patience; None while there is some. `until_s`: when it would go on."""
    patience = PATIENCE[trouble.kind]
    if not patience.tries:
        return ""
    if tries >= patience.tries or (trouble.retry_after_s is None and until_s > patience.whole_s):
        return f" (tried {tries + 1} times)"
    if until_s > patience.whole_s:
        return f" (to be tried again in {trouble.retry_after_s:g} s: too long to wait)"
    return None
