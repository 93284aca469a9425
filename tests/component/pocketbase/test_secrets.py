import base64

import pytest

from entrance.errors import Malformed, Unavailable
from entrance.vault.keyfile import load_or_make
from entrance.vault.vault import Sealed, Vault
from orchestrator.adapters.pocketbase.client import PocketBase
from orchestrator.adapters.pocketbase.secrets import PocketBaseSecrets
from orchestrator.stack import pocketbase
from tests.servers.pocketbase import PocketBaseServer

META = {"scheme": "bearer", "hosts": ["a.example", "b.example:8443"], "argument": ""}


def row(name: str = "model.key", version: int = 1, blob: bytes = bytes(range(256))) -> Sealed:
    return Sealed(name, "k1", version, blob, META)


async def test_a_row_comes_back_as_it_was_put(store: PocketBase) -> None:
    secrets = PocketBaseSecrets(store)
    await secrets.put(row())
    assert await secrets.get("model.key") == row()


async def test_a_row_takes_the_place_of_the_older_one(store: PocketBase) -> None:
    secrets = PocketBaseSecrets(store)
    await secrets.put(row())
    await secrets.put(row(version=2, blob=b"newer"))
    await secrets.put(row("another"))
    assert await secrets.list() == [row("another"), row(version=2, blob=b"newer")]


async def test_a_deleted_row_is_gone_and_deleting_it_again_is_no_error(store: PocketBase) -> None:
    secrets = PocketBaseSecrets(store)
    await secrets.put(row())
    for _ in range(2):
        await secrets.delete("model.key")
        assert await secrets.get("model.key") is None
    assert await secrets.list() == []


async def test_a_row_that_cannot_be_read_is_named_without_its_content(store: PocketBase) -> None:
    secrets = PocketBaseSecrets(store)
    await secrets.put(row())
    stored = (await store.list("secrets", sort="name"))[0]
    await store.put("secrets", {"id": stored["id"], "blob": "QUJDRA", "meta": ["not", "a binding"]})
    assert await secrets.names() == ["model.key"]
    with pytest.raises(Malformed, match=r"model\.key") as caught:
        await secrets.get("model.key")
    assert "QUJDRA" not in str(caught.value)


async def test_a_store_that_is_down_is_unavailable(
    server: PocketBaseServer, store: PocketBase
) -> None:
    secrets = PocketBaseSecrets(store)
    server.stop()
    for call in (secrets.get("a"), secrets.put(row()), secrets.list(), secrets.delete("a")):
        with pytest.raises(Unavailable):
            await call


async def test_neither_a_secret_nor_a_password_is_anywhere_on_disk_in_plain_text(
    server: PocketBaseServer, store: PocketBase
) -> None:
    value = "sk-plain-text-canary-0123456789"
    vault = Vault(PocketBaseSecrets(store), load_or_make(server.home / "keys" / "vault.key"))
    await vault.put("model.key", value, kind="anthropic", hosts=("api.example",))
    await store.backup("all.zip")
    server.stop()
    hidden = [value, pocketbase.password(server.home)]
    needles = [form for text in hidden for form in (text.encode(), base64.b64encode(text.encode()))]
    files = [f for f in server.home.rglob("*") if f.is_file() and f.parent.name != "keys"]
    assert any(b"model.key" in file.read_bytes() for file in files), "the row itself is there"
    assert [file for file in files if any(needle in file.read_bytes() for needle in needles)] == []
