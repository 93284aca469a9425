"""The vault's key is lost: the runner says so and starts no other; people forget what it had sealed."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from entrance.vault.keyfile import load_or_make
from entrance.vault.vault import Vault
from orchestrator.adapters.pocketbase.secrets import PocketBaseSecrets
from orchestrator.cli.codes import Code
from orchestrator.settings import service_environment
from orchestrator.stack.images import ImageTags
from orchestrator.stack.installation import Installation
from orchestrator.stack.pids import record_pid
from orchestrator.stack.wiring import Wishes, runner_env
from tests.servers.command import sandgate
from tests.servers.pocketbase import PocketBaseServer

KEPT, LOST = "sk-kept-0123456789", "sk-lost-0123456789"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installation:
    here = Installation.open(tmp_path / "home", create=True)
    monkeypatch.setenv("SANDGATE_HOME", str(here.home))
    return here


@pytest.fixture
def store(here: Installation) -> Iterator[PocketBaseServer]:
    server = PocketBaseServer(here.home)
    server.port = here.ports.pocketbase
    server.url = f"http://127.0.0.1:{server.port}"
    server.start()
    yield server
    server.stop()


def seal(store: PocketBaseServer, name: str, value: str) -> None:
    async def work() -> None:
        async with store.client() as client:
            key = store.home / "keys" / "vault.key"
            vault = Vault(PocketBaseSecrets(client), load_or_make(key))
            await vault.put(name, value, ["api.example"], "anthropic")

    asyncio.run(work())


def names(store: PocketBaseServer) -> list[str]:
    async def work() -> list[str]:
        async with store.client() as client:
            return list(await PocketBaseSecrets(client).names())

    return asyncio.run(work())


def test_the_runner_makes_no_new_key_in_its_place(
    here: Installation, store: PocketBaseServer
) -> None:
    seal(store, "anthropic", LOST)
    key = here.keys / "vault.key"
    key.unlink()
    env = runner_env(
        here, Wishes(here.home), ImageTags({"native": "sandbox"}, "execd"), service_environment()
    )
    done = subprocess.run(
        [sys.executable, "-P", "-m", "orchestrator"],
        env=env, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 1
    assert f"the vault's key is lost: {key} is not there" in done.stderr
    assert "1: anthropic" in done.stderr
    assert not key.exists()


def test_what_no_key_opens_is_forgotten_and_the_rest_stays(
    here: Installation, store: PocketBaseServer
) -> None:
    seal(store, "lost", LOST)
    (here.keys / "vault.key").unlink()
    seal(store, "kept", KEPT)
    done = sandgate("secret", "reset", stdin=b"n\n")
    assert done.code == Code.REFUSED
    assert "lost: no key opens these" in done.out
    assert names(store) == ["kept", "lost"]
    done = sandgate("secret", "reset", "--yes")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("1 forgotten. ")
    assert names(store) == ["kept"]
    done = sandgate("secret", "reset")
    assert done.out == "every secret opens: there is nothing to forget\n"


def test_all_are_forgotten_when_there_is_no_key_at_all(
    here: Installation, store: PocketBaseServer
) -> None:
    seal(store, "anthropic", LOST)
    (here.keys / "vault.key").unlink()
    store.stop()
    assert sandgate("secret", "reset", "--yes").code == 0
    assert names(store) == []
    assert not (here.keys / "vault.key").exists()


def test_nothing_is_forgotten_while_the_runner_runs(
    here: Installation, store: PocketBaseServer
) -> None:
    seal(store, "anthropic", KEPT)
    key = (here.keys / "vault.key").rename(here.keys / "copy")
    with subprocess.Popen(["sleep", "60"]) as runner:
        record_pid(here.run / "runner.pid", runner.pid)
        done = sandgate("secret", "reset", "--yes")
        runner.kill()
    assert key.exists()
    assert done.code == Code.SETUP
    assert "sandgate down" in done.err
    assert names(store) == ["anthropic"]
