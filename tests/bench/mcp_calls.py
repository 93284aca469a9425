"""Clients that call a tool that does nothing, again and again, in either era of MCP.

As little as can be: what they take of the machine, the servers don't get.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from statistics import median, quantiles
from time import perf_counter
from typing import Literal

import aiohttp
import orjson

from tests.bench.processes import cpu_s

Era = Literal["2025-11-25", "2026-07-28"]
HANDSHAKE: Era = "2025-11-25"
MODERN: Era = "2026-07-28"
ERAS: tuple[Era, ...] = (HANDSHAKE, MODERN)
RUNS = 50
"""So many runs there are at the door, one for each client."""
TOOL, SAID = "noop", "nothing was done"
ARGUMENTS = {"x": "a"}
_ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
_SESSION = "mcp-session-id"
_PATIENCE_S = 120.0
"""Others take twenty seconds for an answer when fifty ask and the machine has more to do."""


@dataclass(frozen=True, slots=True)
class Way:
    """Where to call, as whom, by which name, and which process is in between."""

    name: str
    url: str
    pid: int
    tokens: Sequence[str] = field(default=(), repr=False)
    """One for each client, or one for all, or none."""
    tool: str = TOOL


@dataclass(frozen=True, slots=True)
class Took:
    """What the calls of some clients over one way took."""

    calls_per_s: float
    p50_ms: float
    p99_ms: float
    cpu_ms: float
    """Of the process in between, for a call."""
    unanswered: int
    """Calls that were refused, cut off or not answered in time; they count for nothing else."""


class Unanswered(Exception):
    """The tool's own answer didn't come back; the text says what did."""


def address(client: int) -> str:
    """Where a client calls from: each from an address of its own, as sandboxes do."""
    return f"127.0.1.{client + 1}"


class Clients:
    """So many clients of one way, each with a connection of its own, kept from turn to turn."""

    def __init__(self, way: Way, callers: Sequence["_Caller"]) -> None:
        self.way = way
        self._callers = callers

    async def take(self, seconds: float) -> Took:
        """A turn: each asks again when it is answered. What each asks first doesn't count.

        A connection that was closed since the last turn is opened anew with that.
        Raises: Unanswered when no call was answered.
        """
        await self._call(0)
        began, used = perf_counter(), cpu_s(self.way.pid)
        tally = await self._call(seconds)
        lasted, used = perf_counter() - began, cpu_s(self.way.pid) - used
        took_s = tally.took_s
        if not took_s:
            raise Unanswered(f"none of {len(self._callers)} clients was answered: {tally.last}")
        cuts = quantiles(took_s, n=100) if len(took_s) > 1 else took_s * 99
        return Took(
            calls_per_s=len(took_s) / lasted,
            p50_ms=median(took_s) * 1000,
            p99_ms=cuts[98] * 1000,
            cpu_ms=used * 1000 / len(took_s),
            unanswered=tally.unanswered,
        )

    async def _call(self, seconds: float) -> "_Tally":
        """All of them, until then, and each at least once."""
        tally, until = _Tally(), perf_counter() + seconds
        async with asyncio.TaskGroup() as tasks:
            for caller in self._callers:
                tasks.create_task(caller.go_on(until, tally))
        return tally


@asynccontextmanager
async def connected(way: Way, era: Era, number: int) -> AsyncIterator[Clients]:
    """So many clients of a way."""
    async with AsyncExitStack() as stack:
        callers = [
            _Caller(await stack.enter_async_context(_http(each)), way, era, each)
            for each in range(number)
        ]
        yield Clients(way, callers)


async def ask(way: Way) -> None:
    """Have the tool called once in each era. Raises: Unanswered."""
    for era in ERAS:
        async with _http(0) as http:
            await _Caller(http, way, era, 0).call()


def _http(client: int) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=1, local_addr=(address(client), 0)),
        timeout=aiohttp.ClientTimeout(total=_PATIENCE_S),
    )


@dataclass(slots=True)
class _Tally:
    """What came of the calls of some clients."""

    took_s: list[float] = field(default_factory=list)
    unanswered: int = 0
    last: str = ""
    """Why the last one that was not answered wasn't."""


class _Caller:
    """One client."""

    def __init__(self, http: aiohttp.ClientSession, way: Way, era: Era, number: int) -> None:
        self._http = http
        self._way = way
        self._era = era
        self._headers = {
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": era,
        }
        if way.tokens:
            token = way.tokens[number % len(way.tokens)]
            self._headers["authorization"] = f"Bearer {token}"
        params: dict[str, object] = {"name": way.tool, "arguments": ARGUMENTS}
        if era == MODERN:
            self._headers |= {"mcp-method": "tools/call", "mcp-name": way.tool}
            params["_meta"] = _ENVELOPE
        self._call = _message("tools/call", params)
        self._shaken = era == MODERN

    async def go_on(self, until: float, tally: _Tally) -> None:
        """Call until then; at least once."""
        while True:
            began = perf_counter()
            try:
                await self.call()
            except Unanswered as error:
                tally.unanswered += 1
                tally.last = str(error)
            else:
                tally.took_s.append(perf_counter() - began)
            if perf_counter() >= until:
                return

    async def call(self) -> None:
        """Call once, in a new session where the era has some and there is none. Raises: Unanswered."""
        try:
            if not self._shaken:
                await self._shake_hands()
            said = await self._ask(self._call)
        except (aiohttp.ClientError, TimeoutError) as error:
            self._shaken = self._era == MODERN
            raise Unanswered(f"{self._way.name}, {self._era}: {error!r}") from error
        if SAID.encode() not in said:
            self._shaken = self._era == MODERN
            raise Unanswered(f"{self._way.name}, {self._era}: {said[:500]!r}")

    async def _shake_hands(self) -> None:
        params = {
            "protocolVersion": self._era,
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        }
        self._headers.pop(_SESSION, None)
        asked = _message("initialize", params)
        async with self._http.post(self._way.url, data=asked, headers=self._headers) as answer:
            answer.raise_for_status()
            await answer.read()
            if session := answer.headers.get(_SESSION):
                self._headers[_SESSION] = session
        told = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        await self._ask(orjson.dumps(told))
        self._shaken = True

    async def _ask(self, body: bytes) -> bytes:
        async with self._http.post(self._way.url, data=body, headers=self._headers) as answer:
            return await answer.read()


def _message(method: str, params: Mapping[str, object]) -> bytes:
    return orjson.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
