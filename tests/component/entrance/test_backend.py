"""The counter for backends: MCP servers' requests go on with a credential that they never see."""

import asyncio
import base64
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, web
from yarl import URL

from entrance.backend import counter
from entrance.session import Backend, Session, hash_token
from tests.fakes.alarm import canary
from tests.servers.anthropic import model_server
from tests.servers.bridge import Bridges
from tests.servers.door import Door, open_door

TOKEN, SECRET = "what-the-server-shows", "the-backends-credential"


@dataclass
class System:
    """What stands behind: it tells what it was asked, credential and all."""

    url: str = ""
    asked: list[Mapping[str, Any]] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        headers = {name.lower(): value for name, value in request.headers.items()}
        body = await request.read()
        asked = {"target": request.raw_path, "method": request.method, "headers": headers}
        self.asked.append({**asked, "body": body})
        shown = headers["authorization"]
        if request.path.endswith("/moved"):
            return web.Response(status=302, headers={"Location": "/elsewhere", "ETag": shown})
        if request.path.endswith("/pages"):
            further = f'<{self.url}/polarion/rest/v1/pages?page=2>; rel="next"'
            return web.Response(headers={"Link": f"{further}, </elsewhere>; rel=help"})
        if request.path.endswith("/made"):
            return web.Response(status=201, headers={"Location": f"{request.path}/7"})
        if request.path.endswith("/packed"):
            return web.Response(body=b"packed", headers={"Content-Encoding": "br"})
        if request.path.endswith("/large"):
            return web.Response(body=bytes(counter.BODY_BYTES + 1))
        if request.path.endswith("/broken"):
            assert request.transport
            request.transport.abort()
        forms = [shown, base64.b64encode(SECRET.encode()).decode(), SECRET.encode().hex()]
        return web.json_response({**asked, "forms": forms}, headers={"Set-Cookie": f"a={SECRET}"})


@pytest.fixture
async def system() -> AsyncIterator[System]:
    system = System()
    app = web.Application(client_max_size=counter.BODY_BYTES + 1)
    app.router.add_route("*", "/{path:.*}", system.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    system.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield system
    await runner.cleanup()


@dataclass
class Server:
    """A server in its sandbox, as far as the door can tell."""

    door: Door
    http: ClientSession
    session: Session
    own: dict[str, Session]
    """What the door knows of servers."""

    async def ask(
        self, path: str, method: str = "GET", token: str = TOKEN, **given: Any
    ) -> tuple[int, Mapping[str, str], str]:
        """Status, headers and text of what it gets."""
        own = {"Authorization": f"Bearer {token}"} if token else {}
        headers = {**own, **given.pop("headers", {})}
        url = URL(f"{self.door.url}{path}", encoded=True)
        async with self.http.request(
            method, url, headers=headers, allow_redirects=False, **given
        ) as answer:
            return answer.status, answer.headers, await answer.text()


@pytest.fixture
async def server(tmp_path: Path, system: System) -> AsyncIterator[Server]:
    async with AsyncExitStack() as stack, model_server() as model, ClientSession() as http:
        bridges = Bridges(tmp_path, stack)
        door = await stack.enter_async_context(open_door(tmp_path, model, sandboxes=bridges))
        await door.vault.put("alm", SECRET, [system.url.removeprefix("http://")], "polarion")
        whose, shown = door.session, hash_token(TOKEN)
        session = Session(
            *(whose.run, whose.task, whose.project, whose.agent, whose.address, shown),
            server="alm",
            backend=Backend(f"{system.url}/polarion/", "alm"),
            honeytokens=(whose.run,),
        )
        bridges.own[shown] = session
        yield Server(door, http, session, bridges.own)


async def test_a_request_goes_on_as_it_is_with_the_credential_in_the_tokens_place(
    server: Server, system: System
) -> None:
    status, _, text = await server.ask(
        "/backend/rest/v1/a%20b?query=x%3Ay&page=2",
        "PATCH",
        data=b'{"a": 1}',
        headers={"Content-Type": "application/json", "If-Match": "7", "X-Api-Version": "3"},
    )
    assert status == 200, text
    (asked,) = system.asked
    assert asked["method"] == "PATCH"
    assert asked["target"] == "/polarion/rest/v1/a%20b?query=x%3Ay&page=2"
    assert asked["body"] == b'{"a": 1}'
    headers = asked["headers"]
    assert headers["authorization"] == f"Bearer {SECRET}"
    assert (headers["content-type"], headers["if-match"]) == ("application/json", "7")
    assert headers["x-api-version"] == "3"


async def test_nothing_of_the_credential_comes_back(server: Server) -> None:
    status, headers, text = await server.ask("/backend/rest/v1/a")
    assert status == 200
    told = f"{headers} {text}"
    for form in (SECRET, SECRET.encode().hex(), base64.b64encode(SECRET.encode()).decode()):
        assert form not in told
    assert "Set-Cookie" not in headers
    assert text.count("[redacted]") >= 3


async def test_headers_that_would_make_it_another_request_stay_behind(
    server: Server, system: System
) -> None:
    odd = {
        "Cookie": "a=b",
        "X-HTTP-Method-Override": "DELETE",
        "X-Forwarded-For": "10.0.0.1",
        "X-Auth-Token": "mine",
        "Accept-Encoding": "br",
    }
    await server.ask("/backend/rest/v1/a", headers=odd)
    (asked,) = system.asked
    assert asked["headers"].keys() & {name.lower() for name in odd} == {"accept-encoding"}
    assert asked["headers"]["accept-encoding"] == "identity"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        pytest.param("DELETE", "/backend/rest/v1/a", 403, id="a method that the secret isn't for"),
        pytest.param("GET", "/backend/admin", 403, id="a path that the secret isn't for"),
        pytest.param("GET", "/backend/../../rest/v1/a", 403, id="a path that climbs"),
        pytest.param("GET", "/backend/%2e%2e/rest/v1/a", 403, id="one that climbs in disguise"),
        pytest.param("GET", "/backend//other.example/rest/v1/a", 403, id="another host"),
        pytest.param("GET", "/backend/@other.example:80/rest/v1/a", 200, id="a segment with an at"),
        pytest.param("GET", "/%62ackend/rest/v1/a", 400, id="its own path in disguise"),
    ],
)
async def test_what_the_credential_is_not_for_goes_nowhere(
    server: Server, system: System, method: str, path: str, status: int
) -> None:
    found, _, text = await server.ask(path, method)
    assert found == status, text
    assert [asked["target"] for asked in system.asked] == (
        ["/polarion/@other.example:80/rest/v1/a"] if status == 200 else []
    )
    assert [line["decision"] for line in server.door.lines("http")] == [
        "allow" if status == 200 else "deny"
    ]


async def test_each_is_on_record_before_and_after_without_the_credential(server: Server) -> None:
    await server.ask("/backend/rest/v1/a", "POST", data=b"12345")
    (decided,) = server.door.lines("http")
    assert (decided["door"], decided["server"], decided["run"]) == ("entrance", "alm", "run-1")
    assert (decided["method"], decided["rule"]) == ("POST", "backend")
    assert decided["url"].endswith("/polarion/rest/v1/a")
    (outcome,) = server.door.lines("outcome")
    assert (outcome["of"], outcome["result"], outcome["status"]) == (decided["seq"], "ok", 200)
    assert outcome["bytes_out"] == 5
    assert SECRET not in str(server.door.lines())


async def test_a_token_opens_its_own_counters_only(server: Server, system: System) -> None:
    for path in ("/mcp", "/model/anthropic/v1/messages", "/git/a.example/b.git/info/refs"):
        assert (await server.ask(path, "POST"))[0] == 403, path
    assert (await server.ask("/backend/rest/v1/a", token=server.door.token))[0] == 403
    assert (await server.ask("/backend/rest/v1/a", token="none-of-ours"))[0] == 403
    assert system.asked == []
    denied = server.door.lines("auth")
    assert [line["decision"] for line in denied] == ["deny"] * 5


async def test_a_server_without_a_backend_gets_nothing(server: Server, system: System) -> None:
    server.own[server.session.token_sha256] = replace(server.session, backend=None)
    status, _, text = await server.ask("/backend/rest/v1/a")
    assert status == 403
    assert "names no URL and secret" in text
    assert system.asked == []


async def test_a_redirect_is_not_followed_and_leads_nowhere(server: Server, system: System) -> None:
    status, headers, _ = await server.ask("/backend/rest/v1/moved")
    assert status == 302
    assert "Location" not in headers
    assert SECRET not in headers["ETag"]
    assert len(system.asked) == 1


async def test_pages_and_what_was_made_are_found_through_the_door(
    server: Server, system: System
) -> None:
    _, headers, _ = await server.ask("/backend/rest/v1/pages")
    further = f"{server.door.url}/backend/rest/v1/pages?page=2"
    assert headers["Link"] == f'<{further}>; rel="next"'
    status, _, _ = await server.ask(further.removeprefix(str(server.door.url)))
    assert status == 200
    _, headers, _ = await server.ask("/backend/rest/v1/made", "POST")
    assert headers["Location"] == f"{server.door.url}/backend/rest/v1/made/7"
    assert [asked["target"] for asked in system.asked] == [
        "/polarion/rest/v1/pages",
        "/polarion/rest/v1/pages?page=2",
        "/polarion/rest/v1/made",
    ]


@pytest.mark.parametrize("shown", [{"Private-Token": TOKEN}, {"Authorization": f"token {TOKEN}"}])
async def test_a_server_shows_its_token_as_its_library_does(
    server: Server, system: System, shown: Mapping[str, str]
) -> None:
    status, _, text = await server.ask("/backend/rest/v1/a", token="", headers=shown)
    assert status == 200, text
    assert TOKEN not in str(system.asked[0])


@pytest.mark.parametrize(
    ("path", "trouble"), [("packed", "packed"), ("large", "too_large"), ("broken", "unreachable")]
)
async def test_an_answer_that_can_not_be_passed_on_is_told(
    server: Server, system: System, path: str, trouble: str
) -> None:
    status, _, text = await server.ask(f"/backend/rest/v1/{path}", "POST")
    assert status == 502
    assert trouble in text
    assert server.door.lines("outcome")[-1]["result"] == trouble
    assert len(system.asked) == 1, "it may not be done twice"


async def test_a_body_that_is_too_large_goes_nowhere(server: Server, system: System) -> None:
    body = BytesIO(bytes(counter.BODY_BYTES + 1))
    assert (await server.ask("/backend/rest/v1/a", "POST", data=body))[0] == 413
    assert system.asked == []


async def test_a_honeytoken_in_a_body_goes_nowhere(server: Server, system: System) -> None:
    body = f"see {canary(server.session.run)}".encode()
    status, _, _ = await server.ask("/backend/rest/v1/a", "POST", data=body)
    assert status == 403
    assert system.asked == []
    assert [touched.canary for touched in server.door.alarm.touched] == ["aws-secret"]


async def test_a_credential_that_is_gone_is_said(server: Server, system: System) -> None:
    await server.door.vault.delete("alm")
    status, _, text = await server.ask("/backend/rest/v1/a")
    assert status == 403
    assert "there is no secret 'alm'" in text
    assert system.asked == []


async def test_more_at_once_than_a_run_may_have_wait_for_their_turn(
    server: Server, system: System
) -> None:
    many = 3 * counter.AT_ONCE
    async with asyncio.timeout(10):
        await asyncio.gather(*(server.ask("/backend/rest/v1/a") for _ in range(many)))
    assert len(system.asked) == many
    assert [line["result"] for line in server.door.lines("outcome")] == ["ok"] * many
