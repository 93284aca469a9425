"""Patience with a provider's stream: its silence ends it, a slow client does not."""

import asyncio
from decimal import Decimal
from typing import Any, cast

import aiohttp
import pytest

from entrance.model.budgets import Reservation
from entrance.model.call import Call
from entrance.model.dialects import Asked, Endpoint
from entrance.model.patience import Limits, Patience
from entrance.session import RunId, Session, TaskId
from tests.waiting import until


async def decided() -> int:
    """A decision that is on the disk."""
    return 1


SESSION = Session(RunId("r"), TaskId("P/T"), "P", "bot", "10.0.0.2", "hash")


class Content:
    """The one thing of an answer's content that is needed."""

    def __init__(self) -> None:
        self.error: BaseException | None = None

    def set_exception(self, error: BaseException) -> None:
        self.error = error


class Answer:
    """An answer that says nothing."""

    def __init__(self) -> None:
        self.content = Content()


@pytest.fixture
async def call() -> Call:
    asked = Asked("m", streams=True, body=b"{}")
    return Call(SESSION, "a:m", Endpoint("/p"), asked, decided, Reservation(SESSION, Decimal(0)))


def patience(call: Call, answer: Answer, now: list[float], whole_s: float = 60) -> Patience:
    given = cast("aiohttp.ClientResponse", cast("Any", answer))
    return Patience(call, given, Limits(0.01, whole_s), lambda: now[0])


async def test_a_wait_that_is_too_long_ends(call: Call) -> None:
    answer, now, call.waits_since = Answer(), [5.0], 4.0
    with patience(call, answer, now):
        await until(lambda: answer.content.error is not None)
    assert isinstance(answer.content.error, TimeoutError)


async def test_nobody_who_waits_for_the_client_is_ended(call: Call) -> None:
    answer, now, call.waits_since = Answer(), [5.0], None
    with patience(call, answer, now):
        await asyncio.sleep(0.05)
        assert answer.content.error is None
        call.waits_since = 4.0
        await until(lambda: answer.content.error is not None)


async def test_each_piece_begins_the_wait_anew(call: Call) -> None:
    answer, now, call.waits_since = Answer(), [5.0], 4.995
    with patience(call, answer, now):
        await asyncio.sleep(0.03)
        assert answer.content.error is None, "5 ms is not 10, whatever the loop's own clock says"


async def test_what_is_over_is_left_alone(call: Call) -> None:
    answer, now, call.waits_since = Answer(), [5.0], 0.0
    with patience(call, answer, now):
        pass
    await asyncio.sleep(0.03)
    assert answer.content.error is None


async def test_a_stream_that_goes_on_for_too_long_ends(call: Call) -> None:
    answer, now, call.waits_since = Answer(), [5.0], 5.0
    with patience(call, answer, now, whole_s=1):
        call.waits_since = now[0] = 6.0
        await until(lambda: answer.content.error is not None)
    assert isinstance(answer.content.error, TimeoutError)
