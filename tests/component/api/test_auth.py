"""The API's token: asked for everywhere but at the health check, and never shown."""

import asyncio

import pytest
from structlog.testing import capture_logs

from tests.fakes.run import a_run
from tests.servers.api import METRICS_TOKEN, TOKEN, Api

PATHS = [
    ("GET", "/api/doctor"),
    ("GET", "/api/runs"),
    ("GET", "/api/runs/run000000000000"),
    ("GET", "/api/runs/run000000000000/events"),
    ("GET", "/api/runs/run000000000000/refusals"),
    ("GET", "/api/runs/run000000000000/transcript"),
    ("POST", "/api/runs/run000000000000/cancel"),
    ("POST", "/api/runs/run000000000000/pull-request"),
    ("POST", "/api/agents"),
    ("GET", "/api/engagements"),
    ("POST", "/api/engagements"),
    ("POST", "/api/tasks"),
    ("GET", "/api/tasks"),
    ("GET", "/api/tasks/DEMO/DEMO-1"),
    ("POST", "/api/tasks/DEMO/DEMO-1/approve"),
    ("DELETE", "/api/tasks/DEMO/DEMO-1/disk"),
    ("GET", "/api/approvals"),
    ("GET", "/api/approvals/events"),
    ("GET", "/api/approvals/x"),
    ("POST", "/api/approvals/x/try"),
    ("POST", "/api/approvals/x/once"),
    ("GET", "/api/pushes"),
    ("GET", "/api/pushes/x"),
    ("GET", "/api/pushes/x/diff"),
    ("GET", "/api/push-rules"),
    ("GET", "/api/runs/run000000000000/egress"),
    ("GET", "/api/runs/run000000000000/push-rules"),
    ("GET", "/api/frozen"),
    ("GET", "/api/frozen/x"),
    ("POST", "/api/frozen/x/release"),
    ("POST", "/api/frozen/x/discard"),
    ("GET", "/api/models"),
    ("GET", "/metrics"),
    ("GET", "/api/posture"),
    ("POST", "/api/posture/run"),
    ("POST", "/api/posture/accept"),
    ("GET", "/api/secrets"),
    ("PUT", "/api/secrets/x"),
    ("DELETE", "/api/secrets/x"),
]


def test_every_route_is_in_the_list(api: Api) -> None:
    app = api.application(1)
    routes = {
        (route.method, route.resource.canonical)
        for route in app.router.routes()
        if route.resource and route.method != "HEAD"
    }
    assert len(routes) == len(PATHS) + 1, "one is open: /api/health"


@pytest.mark.parametrize(("method", "path"), PATHS)
async def test_without_the_token_nothing_is_done(api: Api, method: str, path: str) -> None:
    answer = await api.ask(method, path, {}, token=None)
    assert answer.status == 401
    assert answer.error["code"] == "unauthorized"
    assert answer.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "shown",
    [
        pytest.param("", id="empty"),
        pytest.param(TOKEN, id="without Bearer"),
        pytest.param(f"Bearer {TOKEN}x", id="one too long"),
        pytest.param(f"Bearer {TOKEN[:-1]}", id="one too short"),
        pytest.param(f"bearer {TOKEN}", id="in small letters"),
        pytest.param(f"Bearer  {TOKEN}", id="two blanks"),
        pytest.param(f"Basic {TOKEN}", id="another scheme"),
        pytest.param("Bearer \xff\u20ac", id="beyond ASCII"),
    ],
)
async def test_what_is_not_the_token_opens_nothing(api: Api, shown: str) -> None:
    answer = await api.ask("GET", "/api/runs", headers={"Authorization": shown}, token=None)
    assert answer.status == 401
    assert TOKEN.encode() not in answer.body


async def test_bytes_that_are_no_text_are_no_token_either(api: Api) -> None:
    host, _, port = api.base.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"GET /api/runs HTTP/1.0\r\nAuthorization: Bearer \xff\xfe\r\n\r\n")
    assert (await reader.readline()).startswith(b"HTTP/1.0 401")
    writer.close()
    await writer.wait_closed()


@pytest.mark.parametrize("path", ["/", "/api", "/api/health/", "/api/nothing", "//api/health"])
async def test_a_path_that_does_not_exist_needs_the_token_too(api: Api, path: str) -> None:
    assert (await api.ask("GET", path, token=None)).status == 401
    answer = await api.ask("GET", path)
    assert (answer.status, answer.error["code"]) == (404, "not_found")


async def test_health_is_open_and_says_why_no_run_may_start(api: Api) -> None:
    api.fakes.closed = "a sandbox reached DNS"
    answer = await api.ask("GET", "/api/health", token=None)
    assert answer.status == 200
    assert answer.json == {
        "status": "ok",
        "closed": "a sandbox reached DNS",
        "proving": False,
    }


async def test_another_method_is_told_which_there_are(api: Api) -> None:
    answer = await api.ask("DELETE", "/api/runs")
    assert (answer.status, answer.error["code"]) == (405, "method_not_allowed")
    assert "GET" in answer.headers["Allow"]


async def test_a_bug_says_nothing_of_itself(api: Api) -> None:
    async def breaks() -> str:
        raise ZeroDivisionError("a detail of ours")

    api.checks["broken"] = breaks
    with capture_logs() as logged:
        answer = await api.ask("GET", "/api/doctor")
    assert (answer.status, answer.error["code"]) == (500, "internal")
    assert b"detail" not in answer.body
    assert b"Error" not in answer.body
    assert logged[0]["event"] == "request_failed"


async def test_no_answer_holds_the_token_or_a_run_token(api: Api) -> None:
    run = a_run()
    await api.fakes.runs.create(run)
    for method, path in PATHS:
        if path.endswith("/events"):
            continue
        answer = await api.ask(method, path.replace("run000000000000", run.id), {})
        assert TOKEN.encode() not in answer.body
        assert b"token_sha256" not in answer.body
        assert b"session" not in answer.body


async def test_metrics_have_a_token_of_their_own_that_opens_nothing_else(api: Api) -> None:
    answer = await api.ask("GET", "/metrics", token=METRICS_TOKEN)
    assert (answer.status, answer.body) == (200, b"# metrics\n")
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    assert (await api.ask("GET", "/metrics")).status == 200
    for path in ("/api/runs", "/api/doctor", "/metrics/", "/metrics/x"):
        assert (await api.ask("GET", path, token=METRICS_TOKEN)).status == 401
