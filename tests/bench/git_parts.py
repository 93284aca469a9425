"""The door of the git proxy's bench, in a process of its own.

    python -m tests.bench.git_parts --home FOLDER --host ADDRESS --names NAMES

It says its port and its token in its first line, and serves until it is ended. It has all that it has
in an installation: the log on the disk, the vault, honeytokens, and every check in its own mode. The
runner, of which it is a part there, is not here: its memory is the door's own.
"""

import argparse
import asyncio
from pathlib import Path

import uvloop

from entrance.app import Outbound, make_app, make_runner
from entrance.git.proxy import Keeping
from entrance.git.upstream import client_session as git_session
from entrance.honeytokens.watch import Watch
from entrance.model.prices import shipped_prices
from entrance.model.upstream import client_session as model_session
from entrance.registry import SessionRegistry
from entrance.session import (
    Authorship,
    RepoGrant,
    RunId,
    Session,
    TaskId,
    hash_token,
    new_run_token,
)
from entrance.vault.seal import Keyring
from entrance.vault.vault import Vault
from tests.bench.git_repository import ITEM, MAIL, MODEL, NAME, RUN
from tests.bench.serving import serve
from tests.fakes.alarm import FakeAlarm
from tests.fakes.meter import FakeMeter
from tests.fakes.secrets import FakeSecretStore
from tests.servers.log import open_log

SECRET = "the-benchs-secret"
LOG = "egress"


def session(token: str, host: str, names: list[str]) -> Session:
    """A run that may push to all of these."""
    return Session(
        run=RunId(RUN),
        task=TaskId(f"BENCH/{ITEM}"),
        project="BENCH",
        agent="bot",
        address="127.0.0.1",
        token_sha256=hash_token(token),
        repositories=tuple(
            RepoGrant(f"host/{name}", f"http://{host}/{name}", push=True, credential="git")
            for name in names
        ),
        honeytokens=(RunId(RUN),),
        authorship=Authorship(NAME, MAIL, MODEL, frozenset({RunId(RUN)})),
    )


async def door(home: Path, host: str, names: list[str]) -> None:
    registry, token = SessionRegistry(), new_run_token()
    registry.open(session(token, host, names))
    audit, vault = open_log(home / LOG), Vault(FakeSecretStore(), Keyring("k1", {"k1": b"k" * 32}))
    await vault.put("git", SECRET, [host], "git")
    async with git_session() as git_http, model_session() as model_http:
        app = make_app(
            sessions=registry,
            audit=audit,
            watch=Watch(b"h" * 32, audit, FakeAlarm()),
            vault=vault,
            meter=FakeMeter(),
            providers=[],
            prices=shipped_prices(),
            tool_providers=[],
            outbound=Outbound(git_http, model_http, model_http),
            pushes=Keeping(home / "git"),
        )
        try:
            await serve(make_runner(app), token)
        finally:
            await audit.close()


def main() -> None:
    """Serve until told to stop."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--host", required=True)
    parser.add_argument("--names", nargs="+", required=True)
    given = parser.parse_args()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(door(given.home, given.host, given.names))


if __name__ == "__main__":
    main()
