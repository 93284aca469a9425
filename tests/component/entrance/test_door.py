"""Who gets in, who doesn't, and what is left on record of it."""

import asyncio
import base64
from pathlib import Path

import pytest
from aiohttp import ClientSession

from entrance.log.shelf import Shelf
from entrance.session import hash_token, new_run_token
from tests.servers.anthropic import KEY, MODEL
from tests.servers.door import RUN, Door
from tests.servers.log import text_of, verified

ROUTES = ["/mcp", "/model/anthropic/v1/messages", "/git/host/repo.git/git-upload-pack", "/nowhere"]
MESSAGE = {"model": MODEL, "max_tokens": 1, "messages": [{"role": "user", "content": "Hi"}]}


def basic(password: str) -> str:
    return "Basic " + base64.b64encode(f"run:{password}".encode()).decode()


@pytest.mark.parametrize("path", ROUTES)
async def test_without_a_token_every_route_asks_for_one(
    door: Door, http: ClientSession, path: str
) -> None:
    async with http.post(f"{door.url}{path}?key={door.token}") as answer:
        assert answer.status == 401
        assert answer.headers["www-authenticate"] == 'Basic realm="sandgate"'
    [line] = door.lines("auth")
    assert (line["decision"], line["detail"]["trouble"]) == ("deny", "missing")


@pytest.mark.parametrize("path", ROUTES)
async def test_a_token_from_a_foreign_address_opens_nothing(
    door: Door, http: ClientSession, path: str
) -> None:
    """CASE-31: refused, logged as a foreign token. CASE-71: with 403."""
    door.reopen(address="127.0.0.2")
    headers = door.bearer | {"x-forwarded-for": "127.0.0.2", "forwarded": "for=127.0.0.2"}
    async with http.post(door.url + path, headers=headers) as answer:
        assert answer.status == 403
        assert "127.0.0.2" not in await answer.text()
    [line] = door.lines("auth")
    assert line["detail"]["trouble"] == "foreign"
    assert (line["run"], line["address"]) == (RUN, "127.0.0.1")


@pytest.mark.parametrize("path", ROUTES)
async def test_a_token_opens_nothing_after_its_run(
    door: Door, http: ClientSession, path: str
) -> None:
    """CASE-71: an expired token is refused with 403; the run's record shows it."""
    door.registry.close(RUN)
    async with http.post(door.url + path, headers=door.bearer) as answer:
        assert answer.status == 403
    [line] = door.lines("auth")
    assert (line["detail"]["trouble"], line["run"]) == ("ended", RUN)


async def test_an_unknown_token_is_told_apart_on_record_but_not_to_its_bearer(
    door: Door, http: ClientSession
) -> None:
    unknown = {"authorization": f"Bearer {new_run_token()}"}
    async with http.post(f"{door.url}/mcp", headers=unknown) as answer:
        said = await answer.text()
    door.registry.close(RUN)
    async with http.post(f"{door.url}/mcp", headers=door.bearer) as answer:
        assert await answer.text() == said
    assert [line["detail"]["trouble"] for line in door.lines("auth")] == ["unknown", "ended"]


async def test_git_is_told_in_plain_text(door: Door, http: ClientSession) -> None:
    door.registry.close(RUN)
    url = f"{door.url}/git/host/repo.git/info/refs"
    async with http.get(url, headers={"authorization": basic(door.token)}) as answer:
        assert (answer.status, answer.content_type) == (403, "text/plain")


async def test_the_token_is_taken_wherever_clients_put_it(door: Door, http: ClientSession) -> None:
    shown = [
        {"authorization": f"bearer {door.token}"},
        {"authorization": basic(door.token)},
        {"x-api-key": door.token},
        {"x-goog-api-key": door.token},
        {"x-api-key": door.token, "authorization": f"Bearer {door.token}"},
    ]
    for headers in shown:
        async with http.get(f"{door.url}/nowhere", headers=headers) as answer:
            assert answer.status == 404
    assert not door.lines("auth")


async def test_two_different_tokens_open_nothing(door: Door, http: ClientSession) -> None:
    headers = door.bearer | {"x-api-key": new_run_token()}
    async with http.get(f"{door.url}/nowhere", headers=headers) as answer:
        assert answer.status == 403
    assert door.lines("auth")[0]["detail"]["trouble"] == "several"


async def test_an_unknown_path_is_a_404_on_record(door: Door, http: ClientSession) -> None:
    async with http.get(f"{door.url}/admin?x=1", headers=door.bearer) as answer:
        assert answer.status == 404
        assert (await answer.json())["error"]["code"] == "no_such_path"
    assert door.lines("request")[0]["subject"] == "GET /admin"


@pytest.mark.parametrize(
    "line", ["CONNECT 203.0.113.7:443", "OPTIONS *", "GET http://203.0.113.7/", "POST /healthz"]
)
async def test_what_no_route_could_match_is_on_record_as_well(door: Door, line: str) -> None:
    host, port = door.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    token = f"Authorization: Bearer {door.token}"
    writer.write(f"{line} HTTP/1.1\r\nHost: door\r\n{token}\r\n\r\n".encode())
    assert (await reader.readline()).startswith(b"HTTP/1.1 404 ")
    writer.close()
    await writer.wait_closed()
    [recorded] = door.lines("request")
    assert (recorded["decision"], recorded["subject"]) == ("deny", line)


async def test_health_needs_no_token_and_tells_nothing(door: Door, http: ClientSession) -> None:
    async with http.get(f"{door.url}/healthz") as answer:
        assert await answer.json() == {"status": "ok"}
    assert not door.lines()


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (
            "/mcp",
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get_item"}},
        ),
        ("/model/anthropic/v1/messages", MESSAGE),
        ("/nowhere", {}),
    ],
)
async def test_when_nothing_can_be_recorded_nothing_is_answered(
    door: Door, http: ClientSession, path: str, body: dict[str, object]
) -> None:
    fill_the_disk(Shelf(door.log).segment(1))
    async with http.post(door.url + path, json=body, headers=door.bearer) as answer:
        assert answer.status == 503
        assert str(door.log) not in await answer.text()
    async with http.post(door.url + path) as answer:
        assert answer.status == 503, "not even a refusal"
    assert not door.tools.calls


async def test_no_secret_gets_into_the_audit_or_the_log(
    door: Door, http: ClientSession, capfd: pytest.CaptureFixture[str]
) -> None:
    url = f"{door.url}/model/anthropic/v1/messages"
    async with http.post(url, json=MESSAGE, headers=door.bearer) as answer:
        assert answer.status == 200
    door.secrets.down = True
    async with http.post(url, json=MESSAGE, headers=door.bearer) as answer:
        assert answer.status == 503
    door.registry.close(RUN)
    async with http.post(url, json=MESSAGE, headers=door.bearer) as answer:
        assert answer.status == 403
    out, err = capfd.readouterr()
    written = text_of(door.log) + out + err
    assert "request_refused" in out
    for secret in (KEY, door.token, hash_token(door.token)):
        assert secret not in written
    assert verified(door.log).finding is None


def fill_the_disk(path: Path) -> None:
    """Make every further write fail as a full disk does: /dev/full answers ENOSPC."""
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to("/dev/full")
