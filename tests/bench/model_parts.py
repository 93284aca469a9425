"""The two servers of the model gateway's bench, each a process of its own.

    python -m tests.bench.model_parts upstream
    python -m tests.bench.model_parts door --upstream URL --home FOLDER

Each says its port in its first line, the door also its token, and serves until it is ended. The
door has all that it has in an installation: a meter in a real PocketBase, budgets, a record that is
on the disk before the answer.
"""

import argparse
import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from time import monotonic, perf_counter

import orjson
from aiohttp import web

from entrance.app import Outbound, make_app, make_runner
from entrance.git.proxy import Keeping
from entrance.git.upstream import client_session as git_session
from entrance.honeytokens.watch import Watch
from entrance.model.prices import shipped_prices
from entrance.model.provider import Provider
from entrance.model.upstream import client_session as model_session
from entrance.registry import SessionRegistry
from entrance.session import Envelope, RunId, Session, TaskId, hash_token, new_run_token
from entrance.vault.remembered import RememberedSecrets
from entrance.vault.seal import Keyring
from entrance.vault.vault import Vault
from orchestrator.adapters.pocketbase.meter import PocketBaseMeter
from orchestrator.adapters.pocketbase.secrets import PocketBaseSecrets
from orchestrator.app.loop import run
from tests.bench.serving import serve
from tests.fakes.alarm import FakeAlarm
from tests.servers.anthropic import KEY, MODEL, events
from tests.servers.log import open_log
from tests.servers.pocketbase import pocketbase_server

START, *_, DELTA, _STOP, USAGE, END = events([" token"])


def body(count: int, gap_s: float) -> bytes:
    """A request for a stream of so many events, with so long between two of them."""
    return orjson.dumps(
        {
            "model": MODEL,
            "max_tokens": 100,
            "stream": True,
            "messages": [{"role": "user", "content": "Hi"}],
            "metadata": {"user_id": f"{count} {gap_s}"},
        }
    )


async def stream(request: web.Request) -> web.StreamResponse:
    """As many events as asked for; each says when it left, in seconds of the machine's clock."""
    count, gap_s = orjson.loads(await request.read())["metadata"]["user_id"].split()
    response = web.StreamResponse(headers={"content-type": "text/event-stream"})
    await response.prepare(request)
    await response.write(START)
    due = perf_counter()
    for _ in range(int(count)):
        due += float(gap_s)
        if due > perf_counter():
            await asyncio.sleep(due - perf_counter())
        await response.write(DELTA.replace(b" token", f"@{perf_counter():.7f}@".encode()))
    await response.write(USAGE + END)
    return response


async def upstream() -> None:
    """The provider."""
    app = web.Application()
    app.router.add_post("/v1/messages", stream)
    await serve(web.AppRunner(app, access_log=None))


@asynccontextmanager
async def assembled(url: str, home: Path) -> AsyncIterator[tuple[web.Application, str]]:
    """The door's application and the token that opens it."""
    registry, token = SessionRegistry(), new_run_token()
    session = Session(
        run=RunId("benchbenchbench"),
        task=TaskId("BENCH/B-1"),
        project="BENCH",
        agent="bot",
        address="127.0.0.1",
        token_sha256=hash_token(token),
        models=frozenset({f"anthropic:{MODEL}"}),
        budget_usd=Decimal(1000),
        honeytokens=(RunId("run-1"),),
        envelopes=(Envelope("engagement", "BENCH/E-1", Decimal(1000)),),
    )
    registry.open(session)
    audit = open_log(home / "egress")
    with pocketbase_server(home) as server:
        async with server.client() as store, git_session() as git, model_session() as model:
            secrets = RememberedSecrets(PocketBaseSecrets(store), monotonic)
            vault = Vault(secrets, Keyring("k1", {"k1": b"k" * 32}))
            await vault.put("anthropic", KEY, [url.removeprefix("http://")], "anthropic")
            yield (
                make_app(
                    sessions=registry,
                    audit=audit,
                    watch=Watch(b"h" * 32, audit, FakeAlarm()),
                    vault=vault,
                    meter=PocketBaseMeter(store),
                    providers=[Provider("anthropic", url, "anthropic")],
                    prices=shipped_prices(),
                    tool_providers=[],
                    outbound=Outbound(git, model, git),
                    pushes=Keeping(home / "git"),
                ),
                token,
            )


async def door(url: str, home: Path) -> None:
    """The door."""
    async with assembled(url, home) as (app, token):
        await serve(make_runner(app), token)


def main() -> None:
    """One of them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("part", choices=["upstream", "door"])
    parser.add_argument("--upstream", default="")
    parser.add_argument("--home", type=Path, default=Path())
    given = parser.parse_args()
    if given.part == "upstream":
        asyncio.run(upstream())
        return
    run(door(given.upstream, given.home))


if __name__ == "__main__":
    main()
