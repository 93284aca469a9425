"""The sessions of clients of the handshake era: what each agreed on, what of it is going on."""

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from entrance.mcp.exchange import Exchange, Questions
from entrance.mcp.messages import Answered, RpcId
from entrance.mcp.session_ids import Agreed, agreed_in, issue
from entrance.session import RunId, Session

MOST_OF_A_RUN = 32
REMEMBERED = 4096
_NONCE_BYTES = 16


def _random() -> str:
    return secrets.token_urlsafe(_NONCE_BYTES)


@dataclass
class ClientSession:
    """One client's session."""

    run: RunId
    agreed: Agreed
    questions: Questions = field(default_factory=lambda: Questions(_random))
    doing: dict[RpcId, Exchange] = field(default_factory=dict)
    """Its requests that are being done, by their ids."""
    listening: bool = False
    closing: Callable[[], None] | None = None

    def on_close(self, what: Callable[[], None]) -> None:
        """Have this done when the session is closed."""
        self.closing = what

    def exchange(self) -> Exchange:
        """For one of its requests."""
        return Exchange("handshake", self.agreed.can, self.questions)

    @contextmanager
    def doing_now(self, rpc_id: RpcId, exchange: Exchange) -> Iterator[None]:
        """While its block runs, `cancel` of this id withdraws it."""
        self.doing[rpc_id] = exchange
        try:
            yield
        finally:
            self.doing.pop(rpc_id, None)

    def cancel(self, rpc_id: object) -> None:
        """The client wants no answer to a request any more."""
        if not isinstance(rpc_id, str | int | float):
            return
        exchange = self.doing.get(rpc_id)
        if exchange is not None:
            exchange.withdraw()

    def end(self) -> None:
        """Give up what is going on in it."""
        for exchange in list(self.doing.values()):
            exchange.withdraw()
        if self.closing is not None:
            self.closing()

    def answered(self, answer: Answered) -> None:
        """The client answers what it was asked."""
        self.questions.answered(answer)


class ClientSessions:
    """All of them, by their ids."""

    def __init__(self) -> None:
        self._open: dict[str, ClientSession] = {}
        self._closed: dict[str, None] = {}

    def open(self, session: Session, agreed: Agreed) -> str:
        """A new one; its id. A run that has too many loses its oldest."""
        mine = [key for key, each in self._open.items() if each.run == session.run]
        for key in mine[: len(mine) - MOST_OF_A_RUN + 1]:
            self._drop(key)
        session_id = issue(agreed, _random(), session.token_sha256)
        self._open[session_id] = ClientSession(session.run, agreed)
        if len(self._open) > REMEMBERED:
            self._drop(next(iter(self._open)))
        return session_id

    def find(self, session: Session, session_id: str) -> ClientSession | None:
        """The session with an id; None when there is none, or it was closed.

        One that was opened before the door was last started is opened again.
        """
        found = self._open.get(session_id)
        if found is not None:
            return found if found.run == session.run else None
        agreed = None if session_id in self._closed else agreed_in(session_id, session.token_sha256)
        if agreed is None:
            return None
        found = self._open[session_id] = ClientSession(session.run, agreed)
        return found

    def close(self, session: Session, session_id: str) -> bool:
        """Close a session; whether it was the run's last."""
        self._drop(session_id)
        return not any(each.run == session.run for each in self._open.values())

    def _drop(self, session_id: str) -> None:
        found = self._open.pop(session_id, None)
        if found is not None:
            found.end()
        self._closed[session_id] = None
        while len(self._closed) > REMEMBERED:
            del self._closed[next(iter(self._closed))]
