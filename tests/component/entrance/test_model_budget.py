"""Money at the door: reserved before, settled after, never more than there is."""

import asyncio
from dataclasses import replace
from decimal import Decimal

import orjson
from aiohttp import ClientSession, web

from entrance.session import Envelope, RunId, hash_token, new_run_token
from tests.servers.anthropic import MODEL, Answer, ModelServer, events, message, streaming
from tests.servers.door import RUN, Door
from tests.waiting import until

HELLO = {"model": MODEL, "max_tokens": 1000, "messages": [{"role": "user", "content": "Hi"}]}
"""At most $0.0202; it uses $0.000725."""


async def ask(http: ClientSession, door: Door, **more: object) -> int:
    url = f"{door.url}/model/anthropic/v1/messages"
    async with http.post(url, json=HELLO | more, headers=door.bearer) as answer:
        await answer.read()
        return answer.status


def slow(release: asyncio.Event, arrived: list[int]) -> Answer:
    """An answer that uses all that it was allowed to, once it is let go."""

    async def answer(request: web.Request) -> web.Response:
        allowed = orjson.loads(await request.read())["max_tokens"]
        arrived.append(allowed)
        await release.wait()
        usage = {"input_tokens": 10, "output_tokens": allowed}
        return web.json_response({"type": "message", "content": [], "usage": usage})

    return answer


async def test_eight_calls_at_once_can_not_overspend(
    door: Door, model: ModelServer, http: ClientSession
) -> None:
    """Each uses all that it was allowed: together they end at the cap, not past it."""
    door.reopen(budget_usd=Decimal("0.07"))
    release, arrived = asyncio.Event(), list[int]()
    model.answer = slow(release, arrived)
    async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
        calls = [tasks.create_task(ask(http, door)) for _ in range(8)]
        await until(lambda: len(arrived) == 3)
        release.set()
    answers = [call.result() for call in calls]
    assert set(answers) == {200, 403}
    assert answers.count(200) == 3
    assert Decimal("0.06") < door.meter.usage[RUN].cost_usd <= Decimal("0.07")
    refused = [line for line in door.lines("model_call") if line["decision"] == "deny"]
    assert {line["detail"]["refused"] for line in refused} == {"budget"}


async def test_calls_that_use_little_all_go_out(door: Door, http: ClientSession) -> None:
    """What the first do not use is there for the last, although all together might not fit."""
    door.reopen(budget_usd=Decimal("0.05"))
    async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
        calls = [tasks.create_task(ask(http, door)) for _ in range(8)]
    assert [call.result() for call in calls] == [200] * 8
    assert door.meter.usage[RUN].cost_usd == 8 * Decimal("0.000725")


async def test_an_answer_is_shortened_to_what_is_left(
    door: Door, model: ModelServer, http: ClientSession
) -> None:
    door.reopen(budget_usd=Decimal("0.1"))
    assert await ask(http, door, max_tokens=100_000) == 200
    sent = model.got[0].body["max_tokens"]
    assert 4900 < sent < 5000
    allowed = door.lines("model_call")[0]["detail"]
    assert (allowed["output_cap"], allowed["reserved_usd"]) == (sent, "0.1")


async def test_a_call_that_the_rest_can_not_pay_is_the_end(
    door: Door, model: ModelServer, http: ClientSession
) -> None:
    """CASE-101: a rest that is of no use is as good as nothing; 403, so that the harness stops."""
    door.reopen(budget_usd=Decimal("0.01"))
    assert await ask(http, door) == 403
    assert not model.got
    (line,) = door.lines("model_call")
    assert line["detail"]["refused"] == "budget"
    assert "run's budget of $0.01 can't pay" in line["reason"]


async def test_the_engagements_budget_is_kept_by_all_its_runs(
    door: Door, model: ModelServer, http: ClientSession
) -> None:
    door.meter.of_envelopes["engagement", "P/E-1"] = Decimal("4.99")
    door.reopen(envelopes=(Envelope("engagement", "P/E-1", Decimal(5)),))
    assert await ask(http, door) == 403
    assert "the engagement's budget of $5.00" in door.lines("model_call")[0]["reason"]
    door.reopen(envelopes=(Envelope("engagement", "P/E-1", Decimal(6)),))
    assert await ask(http, door) == 200
    assert not model.got[1:]


async def test_a_sub_run_draws_on_its_parents_money(
    door: Door, model: ModelServer, http: ClientSession
) -> None:
    door.reopen(envelopes=(Envelope("run", "parent", Decimal("0.0205")),))
    assert await ask(http, door) == 200
    assert door.meter.of_envelopes["run", "parent"] == Decimal("0.000725")
    assert await ask(http, door) == 403
    assert model.got[1:] == []


async def test_what_a_failed_call_held_is_free_again(
    door: Door, model: ModelServer, http: ClientSession
) -> None:
    async def fails(_: web.Request) -> web.Response:
        return web.json_response({"error": {"message": "overloaded"}}, status=529)

    door.reopen(budget_usd=Decimal("0.021"))
    model.answer = fails
    assert await ask(http, door) == 529
    door.secrets.down = True
    assert await ask(http, door) == 503
    door.secrets.down = False
    model.answer = lambda _: message()
    assert await ask(http, door) == 200


async def test_what_a_client_held_that_has_left_is_free_again(
    door: Door, model: ModelServer, http: ClientSession
) -> None:
    door.reopen(budget_usd=Decimal("0.03"))
    arrived: list[int] = []
    model.answer = slow(asyncio.Event(), arrived)
    async with asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(ask(http, door))
        await until(lambda: len(arrived) == 1)
        asking.cancel()
    await until(lambda: bool(door.lines("outcome")))
    model.answer = lambda _: message()
    assert await ask(http, door) == 200


async def test_a_model_without_a_price_is_called_where_that_is_allowed(
    door: Door, http: ClientSession
) -> None:
    unheard = "claude-unheard-of"
    door.reopen(models=frozenset({f"anthropic:{unheard}"}), unpriced_models=True)
    assert await ask(http, door, model=unheard) == 200
    assert door.meter.usage[RUN].cost_usd == 0
    assert door.meter.usage[RUN].output_tokens == 10


def streaming_all(release: asyncio.Event, arrived: list[int]) -> Answer:
    """A stream that uses all that it was allowed to, once it is let go."""

    async def answer(request: web.Request) -> web.StreamResponse:
        allowed = orjson.loads(await request.read())["max_tokens"]
        arrived.append(allowed)
        await release.wait()
        return await streaming(events(["word"] * 40, output_tokens=allowed))(request)

    return answer


async def test_a_run_and_what_it_delegated_can_not_overspend_together(
    door: Door, model: ModelServer, http: ClientSession
) -> None:
    """Eight streams at once, four of each: what the parent had is all that there is."""
    cap, token = Decimal("0.07"), new_run_token()
    door.reopen(budget_usd=cap)
    child = replace(
        door.session,
        run=RunId("child"),
        token_sha256=hash_token(token),
        budget_usd=Decimal(10),
        envelopes=(Envelope("run", RUN, cap),),
    )
    door.registry.open(child)
    release, arrived = asyncio.Event(), list[int]()
    model.answer = streaming_all(release, arrived)
    shown = [door.bearer, {"authorization": f"Bearer {token}"}] * 4
    async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
        calls = [tasks.create_task(stream(http, door, headers)) for headers in shown]
        await until(lambda: len(arrived) == 3)
        release.set()
    answers = [call.result() for call in calls]
    assert (set(answers), answers.count(200)) == ({200, 403}, 3)
    await until(lambda: len(door.lines("outcome")) == 3)
    spent = sum(usage.cost_usd for usage in door.meter.usage.values())
    assert Decimal("0.06") < spent <= cap
    reasons = {line["reason"] for line in door.lines("model_call") if line["decision"] == "deny"}
    assert all("run's budget of $0.07 can't pay this call" in reason for reason in reasons)
    assert any("the delegating run's budget" in reason for reason in reasons)


async def stream(http: ClientSession, door: Door, headers: dict[str, str]) -> int:
    url = f"{door.url}/model/anthropic/v1/messages"
    async with http.post(url, json=HELLO | {"stream": True}, headers=headers) as answer:
        await answer.read()
        return answer.status
