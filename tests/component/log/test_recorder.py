"""The recorder's socket: what the egress proxy says gets to the log, and nothing else does."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import pytest

from entrance.decision import Allow, Hold
from entrance.log.egress_log import EgressLog
from entrance.log.recorder import CONNECTIONS, UNANSWERED, UNANSWERED_BYTES, Recorder
from entrance.log.records import Decided
from entrance.log.segments import Rules
from entrance.log.wire import LINE_BYTES
from entrance.registry import SessionRegistry
from entrance.session import RunId, Session, TaskId
from tests.fakes.disk import FakeDisk
from tests.servers.log import lines_in, open_log, verified
from tests.waiting import until

SESSION = Session(RunId("r"), TaskId("P/T"), "P", "bot", "10.0.0.2", "0" * 64, sandbox="sb-1")
DECIDED = {
    "kind": "http", "address": "10.0.0.2", "decision": "allow", "method": "GET", "rule": "docs",
    "url": "https://a.example/x", "host": "a.example", "port": 443, "sni": "a.example",
}  # fmt: skip
OUTCOME = {"result": "ok", "status": 200, "bytes_out": 10, "bytes_in": 20, "ms": 3}


@dataclass
class Proxy:
    """A connection to the recorder."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    next_id: int = field(default=0)

    async def ask(self, **said: Any) -> dict[str, Any]:
        """Say one thing, and wait for its answer."""
        self.next_id += 1
        return await self.send(orjson.dumps({"id": self.next_id, **said}) + b"\n")

    async def send(self, line: bytes) -> dict[str, Any]:
        self.writer.write(line)
        return await self.answer()

    async def answer(self) -> dict[str, Any]:
        async with asyncio.timeout(10):
            answer: dict[str, Any] = orjson.loads(await self.reader.readuntil())
        return answer


@dataclass
class Place:
    """A log with a recorder before it."""

    folder: Path
    socket: Path
    log: EgressLog
    registry: SessionRegistry
    disk: FakeDisk
    told: list[Decided] = field(default_factory=list)
    """What is on its way to the disk, or there."""

    @asynccontextmanager
    async def proxy(self) -> AsyncIterator[Proxy]:
        reader, writer = await asyncio.open_unix_connection(str(self.socket))
        yield Proxy(reader, writer)
        writer.close()
        await writer.wait_closed()

    def lines(self) -> list[dict[str, Any]]:
        return lines_in(self.folder)[1:]


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    registry = SessionRegistry()
    registry.open(SESSION)
    disk = FakeDisk()
    disk.prompt = True
    log = open_log(tmp_path / "egress", disk=disk)
    place = Place(tmp_path / "egress", tmp_path / "r.sock", log, registry, disk)
    recorder = Recorder(log, registry, place.told.append)
    await recorder.open(tmp_path / "r.sock")
    yield place
    await recorder.close()
    await log.close()


@pytest.fixture
async def proxy(place: Place) -> AsyncIterator[Proxy]:
    async with place.proxy() as proxy:
        yield proxy


async def test_what_is_acknowledged_is_in_the_log_with_who_it_was(
    place: Place, proxy: Proxy
) -> None:
    assert await proxy.ask(decided=DECIDED) == {"id": 1, "seq": 2}
    assert await proxy.ask(outcome={"of": 2, **OUTCOME}) == {"id": 2, "seq": 3}
    decided, came = place.lines()
    assert {key: decided[key] for key in DECIDED} == DECIDED
    assert (decided["door"], decided["run"], decided["sandbox"]) == ("egress", "r", "sb-1")
    assert (decided["task"], decided["agent"]) == ("P/T", "bot")
    assert {key: came[key] for key in OUTCOME} == OUTCOME
    assert (came["of"], came["run"]) == (2, "r")
    assert verified(place.folder).finding is None


async def test_a_url_is_recorded_without_its_user_and_with_its_query(
    place: Place, proxy: Proxy
) -> None:
    await proxy.ask(decided={**DECIDED, "url": "https://u:p@w@a.example/x?token=u:p@y"})
    assert place.lines()[0]["url"] == "https://a.example/x?token=u:p@y"


async def test_an_address_without_a_session_is_recorded_as_nobodys(
    place: Place, proxy: Proxy
) -> None:
    await proxy.ask(decided={**DECIDED, "address": "10.0.0.9", "decision": "deny", "reason": "no"})
    [line] = place.lines()
    assert (line["address"], line["reason"]) == ("10.0.0.9", "no")
    assert {"run", "task", "agent", "sandbox"} & line.keys() == set()


async def test_many_are_asked_at_once_and_each_gets_its_own_answer(
    place: Place, proxy: Proxy
) -> None:
    lines = [orjson.dumps({"id": n, "decided": DECIDED}) + b"\n" for n in range(5000)]
    proxy.writer.writelines(lines)
    answers = [await proxy.answer() for _ in lines]
    assert {one["id"]: one["seq"] for one in answers} == {n: n + 2 for n in range(5000)}
    assert (verified(place.folder).finding, verified(place.folder).records) == (None, 5001)


def said(**changes: Any) -> bytes:
    return orjson.dumps({"id": 1, "decided": {**DECIDED, **changes}})


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"not JSON", id="no JSON"),
        pytest.param(b"\xff\x00\xfe", id="no text"),
        pytest.param(b"[" * 100_000, id="nested without end"),
        pytest.param(b'{"id":1,"decided":' + b'{"detail":' * 900 + b"1" + b"}" * 901, id="deep"),
        pytest.param(b"[]", id="a list"),
        pytest.param(b'{"id":1}', id="neither"),
        pytest.param(orjson.dumps({"id": 1, "decided": DECIDED, "outcome": {"of": 2, **OUTCOME}}), id="both"),
        pytest.param(orjson.dumps({"decided": DECIDED}), id="no id"),
        pytest.param(orjson.dumps({"id": "1", "decided": DECIDED}), id="an id that is a text"),
        pytest.param(said(run="other"), id="a claim whose it was"),
        pytest.param(said(door="git"), id="another door"),
        pytest.param(said(kind="git_push"), id="another door's kind"),
        pytest.param(said(decision="maybe"), id="no decision"),
        pytest.param(said(port=70000), id="no port"),
        pytest.param(said(port="443"), id="a port that is a text"),
        pytest.param(said(url=None), id="no text"),
        pytest.param(said(detail=[]), id="a detail that is a list"),
        pytest.param(said(url="X").replace(b'"X"', b'"\\ud800"'), id="half a surrogate"),
        pytest.param(said(detail={"n": 0}).replace(b":0", b":1" + b"0" * 50), id="a number too big"),
        pytest.param(orjson.dumps({"id": 1, "outcome": {**OUTCOME, "of": -1}}), id="a negative number"),
        pytest.param(orjson.dumps({"id": 1, "outcome": {**OUTCOME, "of": 9}}), id="of the future"),
        pytest.param(
            orjson.dumps({"id": 1, "outcome": {**OUTCOME, "of": 2, "request_sha256": "x"}}), id="no hash"
        ),
    ],
)  # fmt: skip
async def test_what_is_no_record_is_refused_and_the_next_is_taken(
    place: Place, proxy: Proxy, line: bytes
) -> None:
    answer = await proxy.send(line + b"\n")
    assert answer["error"]
    assert answer["id"] in {None, 1}
    assert await proxy.ask(decided=DECIDED) == {"id": 1, "seq": 2}
    assert len(place.lines()) == 1


async def test_however_much_is_refused_the_next_is_taken(proxy: Proxy) -> None:
    proxy.writer.writelines([b"{}\n"] * (UNANSWERED + 10))
    for _ in range(UNANSWERED + 10):
        assert (await proxy.answer())["error"]
    assert await proxy.ask(decided=DECIDED) == {"id": 1, "seq": 2}


async def test_of_long_lines_fewer_wait_for_the_disk(place: Place, proxy: Proxy) -> None:
    place.disk.prompt = False
    long = {**DECIDED, "detail": {"error": "x" * 200_000}}
    number = UNANSWERED_BYTES // 200_000 + 20
    proxy.writer.writelines(
        orjson.dumps({"id": at, "decided": long}) + b"\n" for at in range(number)
    )
    await until(lambda: len(place.told) >= UNANSWERED_BYTES // 200_000)
    async with place.proxy() as other:
        for _ in range(100):  # so often the first could have been read on
            assert (await other.send(b"{}\n"))["error"]
    assert len(place.told) <= UNANSWERED_BYTES // 200_000 + 1
    place.disk.end()
    assert [(await proxy.answer())["seq"] for _ in range(number)] == list(range(2, number + 2))


async def test_a_line_without_an_end_is_cut_off(place: Place, proxy: Proxy) -> None:
    proxy.writer.write(b"x" * (LINE_BYTES + 10))
    assert "at most" in (await proxy.answer())["error"]
    assert await proxy.reader.read() == b""
    async with place.proxy() as other:
        assert await other.ask(decided=DECIDED) == {"id": 1, "seq": 2}


async def test_what_a_client_leaves_half_said_is_not_recorded(place: Place) -> None:
    async with place.proxy() as proxy:
        proxy.writer.write(said())
    async with place.proxy() as proxy:
        assert await proxy.ask(decided=DECIDED) == {"id": 1, "seq": 2}
    assert len(place.lines()) == 1


async def test_a_client_that_does_not_stay_for_its_answer_is_recorded_all_the_same(
    place: Place,
) -> None:
    async with place.proxy() as proxy:
        proxy.writer.writelines([said() + b"\n"] * 50)
        await proxy.writer.drain()
    await until(lambda: len(place.lines()) == 50)
    assert verified(place.folder).finding is None


async def test_what_came_of_another_doors_decision_is_not_its_to_say(
    place: Place, proxy: Proxy
) -> None:
    seq = await place.log.decided(Decided("git_fetch", "x", Allow(), SESSION))
    assert "no such open decision" in (await proxy.ask(outcome={"of": seq, **OUTCOME}))["error"]


async def test_a_decision_has_one_outcome_and_a_refusal_has_none(
    place: Place, proxy: Proxy
) -> None:
    allowed = (await proxy.ask(decided=DECIDED))["seq"]
    denied = (await proxy.ask(decided={**DECIDED, "decision": "deny"}))["seq"]
    first = await proxy.ask(outcome={"of": allowed, **OUTCOME})
    again = await proxy.ask(outcome={"of": allowed, **OUTCOME, "result": "failed"})
    assert first["seq"] == again["seq"]
    assert [line["result"] for line in place.lines() if line["type"] == "outcome"] == ["ok"]
    assert "error" in await proxy.ask(outcome={"of": denied, **OUTCOME})


async def test_what_came_of_a_decision_is_taken_by_the_next_recorder(place: Place) -> None:
    """The runner is restarted while a download goes on."""
    async with place.proxy() as proxy:
        seq = (await proxy.ask(decided=DECIDED))["seq"]
    await place.log.close()
    log = open_log(place.folder)
    recorder = Recorder(log, place.registry)
    await recorder.open(place.socket)
    async with place.proxy() as proxy:
        assert "seq" in await proxy.ask(outcome={"of": seq, **OUTCOME})
    await recorder.close()
    await log.close()
    assert place.lines()[-1]["run"] == "r"


async def told_again(proxy: Proxy) -> tuple[dict[str, Any], dict[str, Any]]:
    """The answers to a decision with a key of its own, and to what came of it."""
    decided = await proxy.ask(decided={**DECIDED, "key": "9f31-7"})
    return decided, await proxy.ask(outcome={"of": decided["seq"], **OUTCOME})


async def test_what_is_told_again_on_another_connection_is_recorded_once(place: Place) -> None:
    async with place.proxy() as proxy:
        first = await told_again(proxy)
    async with place.proxy() as proxy:
        assert await told_again(proxy) == first
        other = await proxy.ask(decided={**DECIDED, "key": "9f31-8"})
    assert [line["seq"] for line in place.lines()] == [2, 3, other["seq"]]
    assert place.lines()[0]["key"] == "9f31-7"


@pytest.mark.parametrize("segment_bytes", [1, 64 << 20], ids=["in a segment before", "in this one"])
async def test_what_is_told_again_to_the_next_recorder_is_recorded_once(
    tmp_path: Path, segment_bytes: int
) -> None:
    """The runner was killed between the disk and its answer."""
    answers, rules = [], Rules(segment_bytes)
    for _ in range(3):
        log = open_log(tmp_path / "egress", rules)
        recorder = Recorder(log, SessionRegistry())
        await recorder.open(tmp_path / "r.sock")
        here = Place(tmp_path / "egress", tmp_path / "r.sock", log, SessionRegistry(), FakeDisk())
        async with here.proxy() as proxy:
            answers.append(await told_again(proxy))
        await recorder.close()
        await log.close()
    assert answers[0] == answers[1] == answers[2]
    told = [line for line in lines_in(tmp_path / "egress") if line["type"] != "opened"]
    assert [line["type"] for line in told] == ["decided", "outcome"]
    assert verified(tmp_path / "egress").finding is None


async def test_what_did_not_get_to_the_disk_is_new_when_it_is_told_again(
    place: Place, proxy: Proxy
) -> None:
    place.disk.prompt = False
    async with asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(proxy.ask(decided={**DECIDED, "key": "9f31-7"}))
        await until(lambda: bool(place.disk.begun))
        place.disk.end(OSError("no space left on device"))
    assert "no space left" in asking.result()["error"]
    assert (await told_again(proxy))[0]["seq"] == 2
    assert [line["type"] for line in place.lines()] == ["decided", "outcome"]


async def test_a_log_that_can_not_be_written_is_an_error_and_then_goes_on(
    place: Place, proxy: Proxy
) -> None:
    place.disk.prompt = False
    async with asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(proxy.ask(decided=DECIDED))
        await until(lambda: bool(place.disk.begun))
        place.disk.end(OSError("no space left on device"))
    assert "no space left" in asking.result()["error"]
    assert await proxy.ask(decided=DECIDED) == {"id": 2, "seq": 2}


def test_only_its_owner_may_connect(place: Place) -> None:
    assert place.socket.stat().st_mode & 0o777 == 0o600


async def test_what_is_decided_is_told_to_whoever_waits_for_it(place: Place) -> None:
    told: list[Decided] = []
    recorder = Recorder(place.log, place.registry, told.append)
    path = place.socket.with_name("told.sock")
    await recorder.open(path)
    reader, writer = await asyncio.open_unix_connection(str(path))
    proxy = Proxy(reader, writer)
    assert "seq" in await proxy.ask(decided={**DECIDED, "decision": "hold", "reason": "ask"})
    writer.close()
    await recorder.close()
    (record,) = told
    assert (record.decision, record.session) == (Hold("ask"), SESSION)


async def test_more_connections_than_a_proxy_makes_are_turned_away(place: Place) -> None:
    """Each is a file of the runner's; whoever has the proxy's socket may not take them all."""
    async with AsyncExitStack() as stack:
        proxies = [await stack.enter_async_context(place.proxy()) for _ in range(CONNECTIONS)]
        assert "seq" in await proxies[-1].ask(decided=DECIDED)
        one_more = await stack.enter_async_context(place.proxy())
        assert await one_more.reader.read() == b""
        assert "seq" in await proxies[0].ask(decided=DECIDED)
    async with place.proxy() as proxy:
        assert "seq" in await proxy.ask(decided=DECIDED)
