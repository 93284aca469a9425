"""The sessions that are open now, and the latest that were closed, in memory."""

from collections import OrderedDict

from entrance.errors import Conflict
from entrance.session import Ended, RunId, Session


class SessionRegistry:
    """Implements `ports.Sessions`. One session a run: a new one for it ends the old token.

    `remembered` closed sessions stay known, so that a token used after its run is named as such;
    older ones are merely unknown, and just as refused.
    """

    def __init__(self, remembered: int = 4096) -> None:
        self._open: dict[str, Session] = {}
        self._token_of: dict[RunId, str] = {}
        self._ended: OrderedDict[str, Ended] = OrderedDict()
        self._remembered = remembered

    def open(self, session: Session) -> None:
        """Let the session's token in from now on. Opening the same session again changes nothing.

        Raises: Conflict when the token is another run's, or one that has already ended.
        """
        token = session.token_sha256
        known = self._open.get(token)
        if token in self._ended or (known is not None and known.run != session.run):
            raise Conflict(f"run {session.run} can't be opened with a token that was another's")
        if self._token_of.get(session.run, token) != token:
            self.close(session.run)
        self._open[token] = session
        self._token_of[session.run] = token

    def close(self, run: RunId) -> None:
        """End the run's session, if it has one: its token opens nothing from now on."""
        token = self._token_of.pop(run, None)
        if token is None:
            return
        del self._open[token]
        self._ended[token] = Ended(run)
        while len(self._ended) > self._remembered:
            self._ended.popitem(last=False)

    def find(self, token_sha256: str) -> Session | Ended | None:
        """The session, `Ended` when its run is over, None when the token was never one of ours."""
        return self._open.get(token_sha256) or self._ended.get(token_sha256)

    def sessions(self) -> tuple[Session, ...]:
        """The sessions whose tokens are let in now."""
        return tuple(self._open.values())

    def at(self, address: str) -> Session | None:
        """The open session of the sandbox at an address, or None."""
        return next((each for each in self._open.values() if each.address == address), None)

    def open_runs(self) -> frozenset[RunId]:
        """The runs whose tokens are let in now."""
        return frozenset(self._token_of)
