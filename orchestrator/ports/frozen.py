"""Where frozen sandboxes are remembered, and who is told of them."""

from collections.abc import Sequence
from typing import Protocol

from entrance.session import RunId
from orchestrator.domain.frozen import Frozen


class FrozenStore(Protocol):
    """Remembers which sandboxes are frozen, beside everything that may be lost."""

    def load(self) -> Sequence[Frozen]:
        """All of them. Blocking. Raises: Malformed when one can't be read."""
        ...

    def save(self, frozen: Frozen) -> None:
        """Remember it, in place of what is known of the same run. Blocking. Raises: Unavailable."""
        ...

    def delete(self, run: RunId) -> None:
        """Forget it; no error when there is none. Blocking. Raises: Unavailable."""
        ...


class Alerts(Protocol):
    """Calls whoever looks after security."""

    async def frozen(self, frozen: Frozen) -> None:
        """Tell them. Raises: Unavailable, Malformed, Forbidden when they could not be told."""
        ...
