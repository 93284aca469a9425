"""What the record says of a call that a client gave up."""

from decimal import Decimal

import pytest

from entrance.log.records import Outcome
from entrance.model.budgets import Budgets, Reservation
from entrance.model.call import STALLED_S, Call, Settler
from entrance.model.dialects import Asked, Endpoint
from entrance.model.prices import PriceList
from entrance.session import RunId, Session, TaskId
from tests.fakes.audit import FakeAudit
from tests.fakes.meter import FakeMeter


async def decided() -> int:
    """A decision that is on the disk."""
    return 1


SESSION = Session(RunId("r"), TaskId("P/T"), "P", "bot", "10.0.0.2", "hash")


@pytest.mark.parametrize(
    ("result", "waited_s", "trouble"),
    [
        ("client_left", STALLED_S, "stalled"),
        ("cancelled", STALLED_S, "stalled"),
        ("client_left", STALLED_S - 1, None),
        ("client_left", None, None),
        ("ok", STALLED_S, None),
    ],
)
async def test_a_client_that_leaves_a_silent_provider_has_lost_its_patience(
    result: str, waited_s: float | None, trouble: str | None
) -> None:
    audit = FakeAudit()
    settler = Settler(PriceList(models={}), Budgets(FakeMeter()), audit, lambda: 100.0)
    asked = Asked("m", streams=True, body=b"{}")
    call = Call(SESSION, "a:m", Endpoint("/p"), asked, decided, Reservation(SESSION, Decimal(0)))
    call.result, call.sent = result, True
    call.waits_since = None if waited_s is None else 100.0 - waited_s
    await settler.settle(call, 0.0)
    [outcome] = audit.records
    assert isinstance(outcome, Outcome)
    assert (outcome.result, outcome.detail.get("trouble")) == (result, trouble)
