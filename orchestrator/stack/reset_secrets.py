"""Forgets what is sealed under a key that is lost: it is of no use to anybody any more."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import aiohttp

from entrance.vault.keyfile import load
from entrance.vault.seal import KEY_BYTES, Keyring
from entrance.vault.vault import Vault
from orchestrator.adapters.pocketbase import SUPERUSER
from orchestrator.adapters.pocketbase.client import PocketBase
from orchestrator.adapters.pocketbase.secrets import PocketBaseSecrets
from orchestrator.stack import pocketbase
from orchestrator.stack.installation import Installation
from orchestrator.stack.pids import recorded_pid
from orchestrator.stack.services import LOOPBACK
from orchestrator.stack.steps import Step, StepFailed

NOBODYS = Keyring("none", {"none": bytes(KEY_BYTES)})
"""Opens nothing: every secret is sealed under the id of a key that was drawn at random."""


def shut_secrets(here: Installation) -> list[str]:
    """The names of the secrets that the key in `keys/vault.key` doesn't open; all, when it is lost.

    PocketBase is started if need be. Raises: StepFailed while the runner runs: it may still have
    the key in its memory; SandgateError.
    """
    return _with_vault(here, Vault.shut)


def forget(here: Installation, names: list[str]) -> None:
    """Forget these secrets. Raises: as `shut_secrets`."""

    async def each(vault: Vault) -> None:
        for name in names:
            await vault.delete(name)

    _with_vault(here, each)


def _with_vault[T](here: Installation, work: Callable[[Vault], Awaitable[T]]) -> T:
    if recorded_pid(here.run / "runner.pid") is not None:
        raise StepFailed(
            "Secrets can't be reset now",
            why="the runner is running, with the key that it was started with",
            what_to_do="Run `sandgate down` first; what it can open is lost with a lost key file.",
        )
    pocketbase.service(here.home, here.ports.pocketbase).ensure(Step("PocketBase", lambda _: None))

    async def doing() -> T:
        async with _vault(here) as vault:
            return await work(vault)

    return asyncio.run(doing())


@asynccontextmanager
async def _vault(here: Installation) -> AsyncIterator[Vault]:
    key = here.keys / "vault.key"
    keyring = load(key) if key.exists(follow_symlinks=False) else NOBODYS
    async with aiohttp.ClientSession(trust_env=False) as http:
        store = PocketBase(
            http,
            url=f"http://{LOOPBACK}:{here.ports.pocketbase}",
            user=SUPERUSER,
            password=pocketbase.password(here.home),
        )
        yield Vault(PocketBaseSecrets(store), keyring)
