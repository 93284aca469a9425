"""Servers of others that take tokens of an authorization server: OAuth 2.1 client credentials."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from entrance.ports import McpServer
from tests.component.entrance.test_mcp import MODES, Mode
from tests.component.entrance.test_mcp_servers import call
from tests.servers.anthropic import ModelServer
from tests.servers.door import Door, open_door
from tests.servers.issuer import CLIENT, SECRET, Issuer, issuing
from tests.servers.modern_mcp import ModernMcp, modern_mcp
from tests.servers.protected import Protected, protected


@dataclass
class Place:
    """A door, the server behind it, and who gives tokens for that."""

    house: Door
    server: Protected
    issuer: Issuer

    async def seal(self, value: str = SECRET, host: str = "", **more: Any) -> None:
        host = host or self.server.url.removeprefix("http://").removesuffix("/mcp")
        more = {"issuer": self.issuer.url} | more
        await self.house.vault.put("wiki", value, [host], f"mcp-oauth:{CLIENT}", **more)


@pytest.fixture
async def issuer() -> AsyncIterator[Issuer]:
    async with issuing() as one:
        yield one


@pytest.fixture
def server(issuer: Issuer) -> Iterator[Protected]:
    with protected(issuer) as one:
        yield one


@asynccontextmanager
async def place_of(folder: Path, model: ModelServer, server: Protected) -> AsyncIterator[Place]:
    async with open_door(folder, model, servers=[McpServer("wiki", server.url, "wiki")]) as house:
        house.reopen(tools={"wiki": frozenset({"count", "leak"})})
        yield Place(house, server, server.issuer)


@pytest.fixture
async def place(tmp_path: Path, model: ModelServer, server: Protected) -> AsyncIterator[Place]:
    async with place_of(tmp_path, model, server) as one:
        await one.seal()
        yield one


@pytest.mark.parametrize("mode", MODES)
async def test_a_token_is_asked_for_once_for_this_server_and_never_comes_back(
    place: Place, mode: Mode
) -> None:
    assert await call(place.house, "count", mode) == ("1", False)
    assert await call(place.house, "leak", mode) == ("you showed [redacted]", False)
    [asked] = place.issuer.asked
    assert (asked["resource"], asked["scope"]) == (place.server.url, "wiki.read")
    assert SECRET not in str(place.server.shown)
    assert set(place.server.shown) == set(place.issuer.tokens)


async def test_a_token_that_is_revoked_is_replaced_and_the_call_is_done_once(place: Place) -> None:
    assert await call(place.house, "count") == ("1", False)
    place.issuer.revoke()
    assert await call(place.house, "count") == ("2", False)
    assert len(place.issuer.asked) == 2


async def test_a_token_that_has_ended_is_not_shown(place: Place) -> None:
    place.issuer.lasts_s = 1
    assert await call(place.house, "count") == ("1", False)
    [first] = place.issuer.tokens
    place.house.clock.ahead_s += 1
    assert await call(place.house, "count") == ("2", False)
    assert place.server.shown[-1] != first
    assert len(place.issuer.asked) == 2


async def test_a_client_proves_itself_by_what_its_key_signs(place: Place) -> None:
    private = ec.generate_private_key(ec.SECP256R1())
    pem = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    place.issuer.public_key = private.public_key()
    await place.seal(pem)
    assert await call(place.house, "count") == ("1", False)
    assert "PRIVATE" not in str(place.issuer.asked)


async def test_a_client_shows_its_secret_in_the_form_where_that_is_taken(place: Place) -> None:
    place.issuer.methods = ("client_secret_post",)
    assert await call(place.house, "count") == ("1", False)


async def test_scopes_that_the_vault_names_are_asked_for_and_no_others(place: Place) -> None:
    await place.seal(scopes=["wiki.read", "wiki.write"])
    assert await call(place.house, "count") == ("1", False)
    assert place.issuer.asked[0]["scope"] == "wiki.read wiki.write"
    await place.seal(scopes=["other"])
    text, is_error = await call(place.house, "count")
    assert is_error
    assert "HTTP 403" in text
    assert [each["scope"] for each in place.issuer.asked[1:]] == ["other"], (
        "it is asked for no more"
    )


@asynccontextmanager
async def graded(
    folder: Path, model: ModelServer, issuer: Issuer, **more: Any
) -> AsyncIterator[tuple[Door, ModernMcp]]:
    """A door, and a server behind it that has a tool to read, and one to write."""
    async with modern_mcp() as server:
        server.issuer, server.scopes = issuer, {"read": "wiki.read", "write": "wiki.write"}
        server.tools = [{"name": name, "inputSchema": {"type": "object"}} for name in server.scopes]
        async with open_door(folder, model, servers=[McpServer("wiki", server.url, "w")]) as house:
            house.reopen(tools={"wiki": frozenset(server.scopes)})
            host = server.url.removeprefix("http://").removesuffix("/mcp")
            more = {"issuer": issuer.url} | more
            await house.vault.put("w", SECRET, [host], f"mcp-oauth:{CLIENT}", **more)
            yield house, server


async def test_more_scopes_are_asked_for_where_a_call_needs_them_and_the_others_kept(
    tmp_path: Path, model: ModelServer, issuer: Issuer
) -> None:
    async with graded(tmp_path, model, issuer) as (house, server):
        for name in ("read", "write", "read"):
            assert await call(house, name) == ("done", False)
    scopes = [each.get("scope", "") for each in issuer.asked]
    assert scopes == ["", "wiki.read", "wiki.read wiki.write"]
    assert [one.params["name"] for one in server.done] == ["read", "write", "read"]


async def test_no_more_scopes_are_asked_for_than_the_vault_names(
    tmp_path: Path, model: ModelServer, issuer: Issuer
) -> None:
    async with graded(tmp_path, model, issuer, scopes=["wiki.read"]) as (house, server):
        assert await call(house, "read") == ("done", False)
        text, is_error = await call(house, "write")
    assert is_error
    assert "HTTP 403" in text
    assert [each["scope"] for each in issuer.asked] == ["wiki.read"]
    assert [one.params["name"] for one in server.done] == ["read"]


async def test_a_client_that_is_refused_is_told_without_its_secret(
    place: Place, capfd: pytest.CaptureFixture[str]
) -> None:
    place.issuer.echoes = True
    await place.seal("another-secret-than-it-has")
    text, is_error = await call(place.house, "count")
    assert is_error
    said = text + capfd.readouterr().out
    assert "invalid_client" in said
    assert "another-secret" not in said
    assert not place.server.shown


@pytest.mark.parametrize(
    "says",
    [
        {"token_endpoint": "http://127.0.0.1:9/token"},
        {"token_endpoint": "http://evil.example/token"},
        {"token_endpoint": "{issuer}@evil.example/token"},
        {"token_endpoint": "file:///etc/passwd"},
        {"issuer": "http://evil.example"},
        {"issuer": 7},
    ],
)
async def test_metadata_that_leads_elsewhere_is_refused(place: Place, says: dict[str, Any]) -> None:
    """The client's secret goes to its authorization server, and nowhere else."""
    place.issuer.says = {
        name: value.format(issuer=place.issuer.url) if isinstance(value, str) else value
        for name, value in says.items()
    }
    _, is_error = await call(place.house, "count")
    assert is_error
    assert not place.issuer.asked
    assert not place.server.shown


async def test_a_server_that_names_another_authorization_server_gets_no_token(
    place: Place,
) -> None:
    """It can't choose who is shown the client's secret."""
    async with issuing() as another:
        await place.seal(issuer=another.url)
        _, is_error = await call(place.house, "count")
        assert is_error
        assert not another.asked
    assert not place.issuer.asked


async def test_a_token_goes_to_no_other_host_than_its_secret_names(place: Place) -> None:
    await place.seal(host="wiki.example")
    _, is_error = await call(place.house, "count")
    assert is_error
    assert not place.issuer.asked
    assert not place.server.shown


async def test_a_server_that_takes_no_token_at_all_is_asked_twice_and_no_more(
    tmp_path: Path, model: ModelServer, issuer: Issuer
) -> None:
    with protected(issuer, scopes=["never-granted"]) as server:
        async with place_of(tmp_path, model, server) as place:
            await place.seal(scopes=["wiki.read"])
            _, is_error = await call(place.house, "count")
    assert is_error
    assert server.counted == 0
