"""What a sandbox sends to a git host, looked through for its honeytokens on the way.

A fetch's body as it streams by, and a push's list of commands and options. What is in a pushed pack is
looked through in quarantine.
"""

from collections.abc import AsyncIterator
from http import HTTPStatus

from entrance.git.body import BodyError, RequestBody
from entrance.git.receive_pack import PushHead
from entrance.honeytokens.canaries import Canary
from entrance.honeytokens.traps import Traps
from entrance.honeytokens.watch import TO_THE_SANDBOX, Attempt, Watch
from entrance.session import Session


class Watched:
    """The bytes of one request. `found` says what was found, once the bytes have ended early."""

    def __init__(self, traps: Traps) -> None:
        self._stream = traps.stream()
        self._traps = traps
        self.found: Canary | None = None
        self.where = ""

    async def fetch(self, body: RequestBody) -> AsyncIterator[bytes]:
        """The body of a fetch. Raises: BodyError."""
        async for chunk in body:
            if found := self._stream.feed(chunk):
                self.found, self.where = found, "a git fetch"
                raise BodyError(HTTPStatus.FORBIDDEN, TO_THE_SANDBOX)
            yield chunk

    def head(self, head: PushHead) -> bool:
        """Whether there is one in a push's commands and options."""
        self.found, self.where = self._traps.within(head.raw), "the commands of a git push"
        return self.found is not None


async def report(watch: Watch, session: Session, watched: Watched, attempt: Attempt) -> None:
    """Have it recorded when something was found, and the alarm raised. Raises: Unavailable."""
    if watched.found:
        await watch.refuse(session, watched.found, watched.where, attempt)
