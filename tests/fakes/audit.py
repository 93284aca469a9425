"""An audit in memory; while `down`, nothing can be recorded."""

import asyncio

from entrance.errors import Unavailable
from entrance.log.records import Decided, Outcome


class FakeAudit:
    """`entrance.log.records.Audit` for tests: what was recorded, in order.

    As the log itself does, it records once what has a key, and what came of a decision.
    """

    def __init__(self) -> None:
        self.down = False
        self.records: list[Decided | Outcome] = []

    async def decided(self, record: Decided) -> int:
        return self._append(record)

    def deciding(self, record: Decided) -> "asyncio.Future[int]":
        number: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        try:
            number.set_result(self._append(record))
        except Unavailable as error:
            number.set_exception(error)
        return number

    async def kept(self, number: "asyncio.Future[int]") -> int:
        return await asyncio.shield(number)

    async def came_of_it(self, record: Outcome) -> None:
        self._append(record)

    async def ended(self, record: Outcome) -> None:
        self._append(record)

    def decisions(self, kind: str) -> list[Decided]:
        """The decisions of one kind, oldest first."""
        return [each for each in self.records if isinstance(each, Decided) and each.kind == kind]

    def outcome_of(self, decision: Decided) -> Outcome | None:
        """What came of a decision, if that is recorded."""
        seq = 1 + next(at for at, each in enumerate(self.records) if each is decision)
        outcomes = (each for each in self.records if isinstance(each, Outcome))
        return next((each for each in outcomes if each.of == seq), None)

    def _append(self, record: Decided | Outcome) -> int:
        if self.down:
            raise Unavailable("the egress log can't be written")
        for number, known in enumerate(self.records, start=1):
            if _same(known, record):
                return number
        self.records.append(record)
        return len(self.records)


def _same(known: Decided | Outcome, record: Decided | Outcome) -> bool:
    """Whether it was recorded already."""
    if isinstance(known, Outcome) or isinstance(record, Outcome):
        return isinstance(known, Outcome) and isinstance(record, Outcome) and known.of == record.of
    return bool(record.key) and known.key == record.key
