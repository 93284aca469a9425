"""The vault over a store in memory."""

import base64
from dataclasses import replace
from urllib.parse import quote

import pytest

from entrance.errors import Forbidden, Malformed, NotFound, Unavailable
from entrance.session import RepoGrant
from entrance.vault.repositories import VaultRepositories
from entrance.vault.seal import Keyring
from entrance.vault.vault import Vault
from tests.fakes.secrets import FakeSecretStore

VALUE = "sk-ant-0123456789"
URL = "https://api.anthropic.com/v1/messages"


@pytest.fixture
def store() -> FakeSecretStore:
    return FakeSecretStore()


@pytest.fixture
def vault(store: FakeSecretStore) -> Vault:
    return Vault(store, Keyring("k", {"k": b"k" * 32}))


async def test_a_secret_comes_out_for_its_host_only(vault: Vault) -> None:
    await vault.put("key", VALUE, ["api.anthropic.com"], "anthropic")
    assert dict(await vault.headers_for("key", "POST", URL)) == {"x-api-key": VALUE}
    with pytest.raises(Forbidden, match="not for") as refused:
        await vault.headers_for("key", "POST", "https://evil.example/v1/messages")
    assert VALUE not in str(refused.value)


async def test_the_store_sees_no_secret(vault: Vault, store: FakeSecretStore) -> None:
    await vault.put("key", VALUE, ["api.anthropic.com"], "anthropic")
    row = store.rows["key"]
    assert VALUE.encode() not in row.blob
    assert VALUE not in repr(row)
    assert row.meta["hosts"] == ["api.anthropic.com"]


async def test_setting_again_counts_the_version_and_replaces(vault: Vault) -> None:
    await vault.put("key", VALUE, ["api.anthropic.com"], "anthropic")
    info = await vault.put("key", "another-value", ["api.anthropic.com"], "anthropic")
    assert info.version == 2
    assert (await vault.headers_for("key", "POST", URL))["x-api-key"] == "another-value"


async def test_an_edited_row_does_not_open(vault: Vault, store: FakeSecretStore) -> None:
    await vault.put("key", VALUE, ["api.anthropic.com"], "anthropic")
    row = store.rows["key"]
    store.rows["key"] = replace(row, meta={**row.meta, "hosts": ["evil.example"]})
    with pytest.raises(Malformed, match="changed"):
        await vault.headers_for("key", "POST", "https://evil.example/v1/messages")
    store.rows["key"] = replace(row, meta={"hosts": []})
    with pytest.raises(Malformed, match="binding"):
        await vault.headers_for("key", "POST", URL)


async def test_what_is_done_to_a_row_counts_though_it_was_shown_before(
    vault: Vault, store: FakeSecretStore
) -> None:
    for name in ("key", "other"):
        await vault.put(name, f"{VALUE}-{name}", ["api.anthropic.com"], "anthropic")
    for name in ("key", "other", "key"):
        assert (await vault.headers_for(name, "POST", URL))["x-api-key"] == f"{VALUE}-{name}"
    store.rows["key"] = replace(store.rows["key"], version=7)
    with pytest.raises(Malformed, match="changed"):
        await vault.headers_for("key", "POST", URL)
    await vault.delete("key")
    with pytest.raises(NotFound):
        await vault.headers_for("key", "POST", URL)


async def test_an_unknown_secret_says_how_to_set_it(vault: Vault) -> None:
    with pytest.raises(NotFound, match="sandgate secret set nothing"):
        await vault.headers_for("nothing", "POST", URL)


async def test_secrets_are_listed_without_values_and_deleted(vault: Vault) -> None:
    await vault.put("b", VALUE, ["b.example"], "git")
    await vault.put("a", VALUE, ["a.example"], "openai")
    assert await vault.names() == ["a", "b"]
    assert VALUE not in repr(await vault.listed())
    await vault.delete("a")
    await vault.delete("a")
    assert await vault.names() == ["b"]


@pytest.mark.parametrize(
    ("name", "value", "hosts", "kind"),
    [
        pytest.param("a b", VALUE, ["h"], "git", id="a name with a blank"),
        pytest.param("a", "", ["h"], "git", id="an empty value"),
        pytest.param("a", "short", ["h"], "git", id="a value that could be a word"),
        pytest.param("a", VALUE + "\r\nx: y", ["h"], "git", id="a value with a line break"),
        pytest.param("a", VALUE + "\n", ["h"], "git", id="a value with a trailing line break"),
        pytest.param("a", VALUE + "ü", ["h"], "git", id="a value that is not ASCII"),
        pytest.param("a", VALUE, [], "git", id="no host"),
        pytest.param("a", VALUE, ["*"], "git", id="every host"),
        pytest.param("a", VALUE, ["h"], "any", id="no such kind"),
    ],
)
async def test_what_will_not_do_is_not_stored(
    store: FakeSecretStore, name: str, value: str, hosts: list[str], kind: str
) -> None:
    vault = Vault(store, Keyring("k", {"k": b"k" * 32}))
    with pytest.raises(ValueError, match=r"\w") as refused:
        await vault.put(name, value, hosts, kind)
    assert VALUE not in str(refused.value)
    assert not store.rows


async def test_a_store_that_is_down_is_unavailable(vault: Vault, store: FakeSecretStore) -> None:
    store.down = True
    with pytest.raises(Unavailable):
        await vault.headers_for("key", "POST", URL)


async def test_repositories_get_the_secret_that_their_grant_names(vault: Vault) -> None:
    await vault.put("git", VALUE, ["git.example"], "git")
    credentials = VaultRepositories(vault)
    grant = RepoGrant("git.example/a.git", "https://git.example/a.git", credential="git")
    for method in ("GET", "POST"):
        headers = await credentials.headers_for(grant, method)
        assert headers["authorization"].startswith("Basic ")
    assert await credentials.headers_for(replace(grant, credential=None), "GET") == {}
    for broken in (
        replace(grant, credential="missing"),
        replace(grant, url="https://evil.example/a.git"),
    ):
        with pytest.raises(Forbidden):
            await credentials.headers_for(broken, "GET")


async def test_a_look_names_the_secrets_that_another_key_sealed(
    vault: Vault, store: FakeSecretStore
) -> None:
    """The key file was lost, and a fresh one made: nothing else would say so before a run fails."""
    await vault.put("old", VALUE, ["a.example"], "git")
    assert await vault.check() == 1
    fresh = Vault(store, Keyring("n", {"n": b"n" * 32}))
    await fresh.put("new", VALUE, ["a.example"], "git")
    with pytest.raises(Malformed, match=r"1 of 2 secrets .* \(old\)"):
        await fresh.check()


@pytest.mark.parametrize(
    "told",
    [
        VALUE,
        base64.b64encode(f"x-api-key: {VALUE}".encode()).decode(),
        VALUE.encode().hex(),
        quote(f"a b/{VALUE}", safe=""),
    ],
)
async def test_what_is_written_down_has_no_value_in_whatever_form(vault: Vault, told: str) -> None:
    assert vault.redacted(told) == told
    await vault.put("key", VALUE, ["api.anthropic.com"], "anthropic")
    await vault.learn()
    assert vault.redacted(f"use {told} here") != f"use {told} here"
    assert VALUE not in vault.redacted(told)
    assert vault.redacted("an ordinary word") == "an ordinary word"


async def test_a_secret_that_is_set_anew_is_known_and_one_that_does_not_open_is_in_nobodys_way(
    vault: Vault, store: FakeSecretStore
) -> None:
    await vault.put("key", VALUE, ["api.anthropic.com"], "anthropic")
    await vault.put("other", "another-value", ["api.anthropic.com"], "anthropic")
    store.rows["other"] = replace(store.rows["other"], version=7)
    await vault.learn()
    assert vault.redacted(f"{VALUE} another-value") == "[redacted] another-value"
    await vault.delete("key")
    await vault.put("key", "a-newer-value", ["api.anthropic.com"], "anthropic")
    await vault.learn()
    assert vault.redacted("a-newer-value") == "[redacted]"
    store.down = True
    with pytest.raises(Unavailable):
        await vault.learn()
    assert vault.redacted("a-newer-value") == "[redacted]"
