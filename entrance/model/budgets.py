"""Budgets in use: what calls in flight hold of each envelope, so that together they can't overspend.

In this process and only here: a crash forgets what was reserved, and the meter knows what was
spent. Looking and taking happen without giving way to another task in between, so no lock is needed;
the loop is the lock.
"""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal

from entrance.model.envelope import Account, Claim, Granted, Spent, Wait, draw
from entrance.ports import Meter, Usage
from entrance.session import Envelope, Session

PATIENCE_S = 25.0
"""So long a call waits for others to end; shorter than any client waits for an answer to begin."""

_Key = tuple[str, str]


@dataclass(slots=True)
class Reservation:
    """What one call holds of each of its envelopes. Settle it once, whatever comes of the call."""

    session: Session
    usd: Decimal
    envelopes: Sequence[Envelope] = ()
    open: bool = True


@dataclass(frozen=True, slots=True)
class Empty:
    """An envelope has too little left for the call."""

    envelope: Envelope
    spent_usd: Decimal


@dataclass(frozen=True, slots=True)
class Busy:
    """Other calls still hold what this one needs: it should be tried again in a while."""


class Budgets:
    """Reserves, lets grow, settles. `meter` is the truth about what was spent before this process."""

    def __init__(self, meter: Meter, patience_s: float = PATIENCE_S) -> None:
        self.meter = meter
        self._patience_s = patience_s
        self._accounts: defaultdict[_Key, Account] = defaultdict(Account)
        self._freed = asyncio.Event()

    def spent_usd(self, session: Session) -> Decimal:
        """What was spent of the session's own budget, as far as it is known here."""
        return self._accounts["run", session.run].spent_usd

    async def reserve(self, session: Session, claim: Claim) -> Reservation | Empty | Busy:
        """Promise a call what it may cost; wait for others to end where that helps.

        Raises: Unavailable.
        """
        envelopes = (Envelope("run", session.run, session.budget_usd), *session.envelopes)
        await self._look(session, envelopes)
        drawn: Granted | Wait | Spent | None = draw(claim, self._pots(envelopes))
        if isinstance(drawn, Wait):
            drawn = await self._waited(envelopes, claim)
        match drawn:
            case Spent(index):
                envelope = envelopes[index]
                return Empty(envelope, self._accounts[_key(envelope)].spent_usd)
            case Granted(usd):
                self._take(envelopes, usd)
                return Reservation(session, usd, envelopes)
            case _:
                return Busy()

    def grow(self, reservation: Reservation, usd: Decimal) -> bool:
        """Whether a call may cost `usd` after all; if so, it holds that much from now on."""
        more, envelopes = usd - reservation.usd, reservation.envelopes
        if more > 0 and any(pot.left(limit) < more for limit, pot in self._pots(envelopes)):
            return False
        if more > 0:
            self._take(envelopes, more)
            reservation.usd = usd
        return True

    async def settle(self, reservation: Reservation, usage: Usage) -> None:
        """Take the promise back and count what the call used, once.

        The money counts here before the meter has it. Raises: Unavailable when it can't be added.
        """
        if not reservation.open:
            return
        reservation.open = False
        session = reservation.session
        for key in map(_key, reservation.envelopes):
            account = self._accounts[key]
            self._accounts[key] = account.settle(reservation.usd, usage.cost_usd)
        self._freed.set()
        self._freed = asyncio.Event()
        if usage != Usage():
            await self.meter.add(session.run, usage, _lender(session))

    async def _look(self, session: Session, envelopes: Sequence[Envelope]) -> None:
        """Learn what was spent before. Raises: Unavailable, when nothing could be added now either."""
        usage = await self.meter.spent(session.run)
        for envelope in envelopes:
            if _key(envelope) not in self._accounts:
                self._see(_key(envelope), await self.meter.spent_of(envelope))
        self._see(("run", session.run), usage.cost_usd)

    async def _waited(self, envelopes: Sequence[Envelope], claim: Claim) -> Granted | Spent | None:
        """What there is for a call once others have ended; None when that takes too long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._patience_s):
                while isinstance(drawn := draw(claim, self._pots(envelopes)), Wait):
                    await self._freed.wait()
                return drawn
        return None

    def _pots(self, envelopes: Sequence[Envelope]) -> Sequence[tuple[Decimal, Account]]:
        return [(one.limit_usd, self._accounts[_key(one)]) for one in envelopes]

    def _take(self, envelopes: Sequence[Envelope], usd: Decimal) -> None:
        for key in map(_key, envelopes):
            self._accounts[key] = self._accounts[key].reserve(usd)

    def _see(self, key: _Key, spent_usd: Decimal) -> None:
        self._accounts[key] = self._accounts[key].seen(spent_usd)


def _key(envelope: Envelope) -> _Key:
    return envelope.kind, envelope.id


def _lender(session: Session) -> str:
    """The run that lends this one its money, for the store to add up; empty when none does."""
    return next((one.id for one in session.envelopes if one.kind == "run"), "")
