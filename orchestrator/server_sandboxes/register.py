"""Which sandboxes of MCP servers there are: what no sweep may end, and whose an address is."""

from dataclasses import dataclass, field

from entrance.session import RunId, Session


@dataclass
class Register:
    """One is in it from before it is made until nothing of it is left."""

    live: set[RunId] = field(default_factory=set)
    _at: dict[str, tuple[RunId, Session]] = field(init=False, repr=False, default_factory=dict)

    def moved_in(self, box: RunId, session: Session) -> None:
        """It has an address now: what comes from there is the session's."""
        self._at[session.address] = (box, session)

    def moved_out(self, box: RunId) -> None:
        """Nothing of it is left."""
        self.live.discard(box)
        self._at = {address: each for address, each in self._at.items() if each[0] != box}

    def find(self, token_sha256: str) -> Session | None:
        """The session of the sandbox whose programs show this token."""
        return next((own for _, own in self._at.values() if own.token_sha256 == token_sha256), None)

    def at(self, address: str) -> Session | None:
        """Whose attempts those from an address are; None: it is no server's."""
        found = self._at.get(address)
        return found[1] if found else None
