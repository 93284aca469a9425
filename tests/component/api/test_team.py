"""Setting a team up over HTTP: what is made of a body, and what is said to a bad one."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from structlog.testing import capture_logs

from orchestrator.domain.team import Repository
from tests.fakes.world import AGENT, ENGAGEMENT
from tests.servers.api import TOOLS, Api

VALUE = "sk-ant-a-secret-of-the-tests"
AGENT_BODY = {"name": "rex", "model": "anthropic:claude-test"}
HIRE_BODY = {"agent": "rex", "project": "DEMO", "supervisor": "lead", "budget_usd": "25"}
TASK_BODY = {"project": "DEMO", "title": "Fix it"}
SECRET_BODY = {"value": VALUE, "hosts": ["api.example"], "kind": "anthropic"}
BODIES: dict[tuple[str, str], dict[str, Any]] = {
    ("POST", "/api/agents"): AGENT_BODY,
    ("POST", "/api/engagements"): HIRE_BODY,
    ("POST", "/api/tasks"): TASK_BODY,
    ("PUT", "/api/secrets/model"): SECRET_BODY,
}


async def test_an_agent_is_made_with_a_bot_of_its_own(api: Api) -> None:
    answer = await api.ask("POST", "/api/agents", AGENT_BODY)
    assert (answer.status, answer.json) == (201, {"id": "AGENTS/AGENTS-1", "bot": "bot-rex"})
    (made,) = api.hiring.agents
    assert (made.title, made.harness, made.model) == ("rex", "native", "anthropic:claude-test")


async def test_a_harness_that_can_not_talk_to_the_model_is_refused(api: Api) -> None:
    body = {**AGENT_BODY, "harness": "claude_code", "model": "openai:gpt-test"}
    answer = await api.ask("POST", "/api/agents", body)
    assert answer.status == 400
    assert "claude_code speaks the API of anthropic" in answer.error["message"]


async def test_an_unknown_harness_is_named_with_those_that_there_are(api: Api) -> None:
    answer = await api.ask("POST", "/api/agents", {**AGENT_BODY, "harness": "other"})
    assert answer.status == 400
    assert answer.error["message"].startswith("harness: other is unknown; there is ")
    assert "native" in answer.error["message"]
    assert not api.hiring.agents


async def test_hiring_grants_what_was_said_and_the_agents_own_model(api: Api) -> None:
    repository = {"url": "https://git.example/team/thing.git", "push": False, "credential": "git"}
    body = {**HIRE_BODY, "repositories": [repository], "tools": ["get_task"]}
    await api.ask("PUT", "/api/secrets/git", {**SECRET_BODY, "kind": "git"})
    answer = await api.ask("POST", "/api/engagements", body)
    assert (answer.status, answer.json) == (
        201,
        {"id": "DEMO/DEMO-1", "bot": "bot-rex", "standing": []},
    )
    (hired,) = api.hiring.hired
    assert (hired.supervisor, hired.budget_usd) == ("lead", Decimal(25))
    assert hired.grants.tools == {"polarion": frozenset({"get_task"})}
    assert hired.grants.models == frozenset({AGENT.model})
    assert hired.grants.repositories == (
        Repository("https://git.example/team/thing.git", push=False, credential="git"),
    )


async def test_hiring_can_say_how_each_tool_may_be_called(api: Api) -> None:
    wiki = {
        "tools": {"read_page": "read", "write_page": {"mode": "approval", "two_people": True}},
        "scope": {"projects": ["DEMO"]},
    }
    tools = {"polarion": ["get_task"], "wiki": wiki}
    answer = await api.ask("POST", "/api/engagements", {**HIRE_BODY, "tools": tools})
    assert answer.status == 201
    (hired,) = api.hiring.hired
    assert hired.grants.tools == {"polarion": frozenset({"get_task"})}
    assert hired.grants.tool_rules["wiki"].tools["write_page"].two_people


async def test_a_bound_that_is_no_schema_is_said_at_once(api: Api) -> None:
    tools = {"wiki": {"tools": {"t": {"arguments": {"type": "thing"}}}}}
    answer = await api.ask("POST", "/api/engagements", {**HIRE_BODY, "tools": tools})
    assert answer.status == 400
    assert not api.hiring.hired


async def test_who_is_hired_is_shown_with_their_tools(api: Api) -> None:
    answer = await api.ask("GET", "/api/engagements")
    assert answer.status == 200
    assert {one["agent"] for one in answer.json} == {"rex"}
    assert answer.json[0]["tools"] == {
        name: sorted(tools) for name, tools in ENGAGEMENT.grants.tools.items()
    }


async def test_a_credential_that_is_not_sealed_is_said_at_once(api: Api) -> None:
    """Else it comes out when the first run can't clone."""
    repository = {"url": "https://git.example/team/thing.git", "credential": "gti"}
    answer = await api.ask("POST", "/api/engagements", {**HIRE_BODY, "repositories": [repository]})
    assert answer.status == 400
    assert answer.error["message"].startswith("credential: there is no secret 'gti': `sandgate")
    assert not api.hiring.hired


async def test_hiring_without_a_word_on_tools_grants_all_of_them(api: Api) -> None:
    await api.ask("POST", "/api/engagements", HIRE_BODY)
    assert api.hiring.hired[0].grants.tools == {"polarion": TOOLS}


async def test_an_agent_that_is_not_there_can_not_be_hired(api: Api) -> None:
    answer = await api.ask("POST", "/api/engagements", {**HIRE_BODY, "agent": "max"})
    assert answer.status == 404
    assert "sandgate agent create max" in answer.error["message"]


async def test_a_tool_that_there_is_not_is_named(api: Api) -> None:
    answer = await api.ask("POST", "/api/engagements", {**HIRE_BODY, "tools": ["rm", "get_task"]})
    assert (answer.status, answer.error["message"]) == (400, "tools: there is no rm")


async def test_a_task_is_made_and_looked_at_at_once(api: Api) -> None:
    body = {**TASK_BODY, "assign": "rex", "description": "It\nis broken.", "base_branch": "dev"}
    answer = await api.ask("POST", "/api/tasks", body)
    assert (answer.status, answer.json) == (201, {"id": "DEMO/DEMO-1"})
    assert api.woken == ["DEMO/DEMO-1"]
    (made,) = api.hiring.tasks
    assert (made.assignee, made.base_branch) == ("bot-rex", "dev")
    assert made.description == "It\nis broken."


@pytest.mark.parametrize(
    ("agent", "project"), [("max", "DEMO"), ("rex", "OTHER")], ids=["who", "where"]
)
async def test_a_task_for_somebody_who_is_not_hired_is_refused(
    api: Api, agent: str, project: str
) -> None:
    body = {**TASK_BODY, "assign": agent, "project": project}
    answer = await api.ask("POST", "/api/tasks", body)
    assert answer.status == 400
    assert answer.error["message"].startswith(f"assign: {agent} is not hired into {project}")
    assert not api.hiring.tasks


async def test_a_task_for_somebody_who_was_let_go_is_refused(api: Api) -> None:
    hired = api.fakes.tracker.hired
    hired.update({key: replace(one, active=False) for key, one in hired.items()})
    answer = await api.ask("POST", "/api/tasks", {**TASK_BODY, "assign": "rex"})
    assert answer.status == 400


@pytest.mark.parametrize(
    "url",
    [
        "not a url",
        "ssh://git@git.example/x.git",
        "http://lead:hunter2hunter2@git.example/x.git",
        "https://git.example/x.git?token=hunter2hunter2",
        "https://git.example/x\n.git?a",
        "https://[::1/x",
    ],
)
async def test_a_repository_that_can_not_be_granted_is_named_and_no_secret_in_it(
    api: Api, url: str
) -> None:
    task = await api.ask("POST", "/api/tasks", {**TASK_BODY, "repository": url})
    hire = await api.ask("POST", "/api/engagements", {**HIRE_BODY, "repositories": [{"url": url}]})
    for answer in (task, hire):
        assert (answer.status, answer.error["code"]) == (400, "bad_input")
        assert answer.error["message"].startswith("repository: ")
        assert b"hunter2" not in answer.body


@pytest.mark.parametrize(("call", "body"), BODIES.items(), ids=lambda part: str(part)[:40])
async def test_what_a_body_does_not_know_is_named(
    api: Api, call: tuple[str, str], body: dict[str, Any]
) -> None:
    answer = await api.ask(*call, {**body, "surprise": 1})
    assert (answer.status, answer.error["code"]) == (400, "bad_input")
    assert answer.error["message"] == "surprise: Extra inputs are not permitted"


@pytest.mark.parametrize(("call", "body"), BODIES.items(), ids=lambda part: str(part)[:40])
@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"{", id="half of it"),
        pytest.param(b"[]", id="a list"),
        pytest.param(b"\xff\xfe", id="no text"),
        pytest.param(b"{}" * 2, id="two of them"),
        pytest.param(b"[" * 50_000, id="deep"),
        pytest.param(b'{"title": "' + VALUE.encode() + b'"', id="a secret in half of it"),
    ],
)
async def test_a_body_that_is_no_json_object_is_named(
    api: Api, call: tuple[str, str], body: dict[str, Any], raw: bytes
) -> None:
    del body
    answer = await api.ask(*call, raw=raw)
    assert answer.status == 400
    assert answer.error["message"].startswith("body: ")
    assert VALUE.encode() not in answer.body


@pytest.mark.parametrize(("call", "body"), BODIES.items(), ids=lambda part: str(part)[:40])
async def test_each_missing_field_is_named(
    api: Api, call: tuple[str, str], body: dict[str, Any]
) -> None:
    for name in body:
        answer = await api.ask(*call, {key: value for key, value in body.items() if key != name})
        assert (answer.status, answer.error["message"]) == (400, f"{name}: Field required")


@pytest.mark.parametrize(
    ("path", "change", "field"),
    [
        ("/api/agents", {"name": "rex/../max"}, "name"),
        ("/api/agents", {"name": "x" * 64}, "name"),
        ("/api/agents", {"name": "rex\n"}, "name"),
        ("/api/agents", {"model": "claude"}, "model"),
        ("/api/agents", {"model": "anthropic:a b"}, "model"),
        ("/api/engagements", {"budget_usd": "0"}, "budget_usd"),
        ("/api/engagements", {"budget_usd": "-1"}, "budget_usd"),
        ("/api/engagements", {"budget_usd": "NaN"}, "budget_usd"),
        ("/api/engagements", {"budget_usd": "Infinity"}, "budget_usd"),
        ("/api/engagements", {"budget_usd": "1e400"}, "budget_usd"),
        ("/api/engagements", {"budget_usd": "1e-400"}, "budget_usd"),
        ("/api/engagements", {"budget_usd": "ten"}, "budget_usd"),
        ("/api/engagements", {"repositories": [{"url": "x", "b": 1}]}, "repositories.0.b"),
        ("/api/engagements", {"tools": "get_task"}, "tools.list[str]"),
        ("/api/engagements", {"egress": "rules: [{host: a"}, "egress"),
        ("/api/engagements", {"pushes": "modes: {rewind: note}"}, "pushes"),
        ("/api/agents", {"egress": "rules:\n- host: a.example\n  uses: 1"}, "egress"),
        ("/api/tasks", {"title": ""}, "title"),
        ("/api/tasks", {"title": "  "}, "title"),
        ("/api/tasks", {"project": ""}, "project"),
        ("/api/tasks", {"assign": "-x"}, "assign"),
    ],
)
async def test_a_value_that_will_not_do_is_named(
    api: Api, path: str, change: dict[str, Any], field: str
) -> None:
    answer = await api.ask("POST", path, {**BODIES["POST", path], **change})
    assert answer.status == 400
    assert answer.error["message"].startswith(f"{field}: ")


async def test_what_is_asked_of_pushes_is_handed_on_as_it_was_written(api: Api) -> None:
    text = "gate_paths: ['deploy/**']  # read by hand\n"
    await api.ask("POST", "/api/engagements", {**HIRE_BODY, "pushes": text})
    await api.ask("POST", "/api/engagements", HIRE_BODY)
    assert [one.pushes for one in api.hiring.hired] == [text, None]


async def test_what_may_be_reached_is_handed_on_as_it_was_written(api: Api) -> None:
    text = "presets: [docs]  # for reading\n"
    await api.ask("POST", "/api/agents", {**AGENT_BODY, "egress": text})
    await api.ask("POST", "/api/engagements", {**HIRE_BODY, "egress": text})
    await api.ask("POST", "/api/engagements", HIRE_BODY)
    assert api.hiring.agents[0].egress == text
    assert [one.egress for one in api.hiring.hired] == [text, None]


async def test_a_secret_is_sealed_and_listed_without_its_value(api: Api) -> None:
    answer = await api.ask("PUT", "/api/secrets/model", SECRET_BODY)
    assert (answer.status, answer.json) == (201, {"name": "model", "version": 1})
    assert (await api.ask("PUT", "/api/secrets/model", SECRET_BODY)).json["version"] == 2
    listed = await api.ask("GET", "/api/secrets")
    assert listed.json == [
        {"name": "model", "version": 2, "kind": "x-api-key", "hosts": ["api.example"]}
    ]
    assert VALUE.encode() not in listed.body
    assert VALUE.encode() not in api.secrets.rows["model"].blob


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"value": VALUE + "\n"}, id="a line break in it"),
        pytest.param({"value": "s-ecret"}, id="too short"),
        pytest.param({"value": [VALUE]}, id="no text"),
        pytest.param({"value": 1, "hosts": VALUE}, id="in the wrong field"),
        pytest.param({"hosts": []}, id="no host"),
        pytest.param({"hosts": [""]}, id="an empty host"),
        pytest.param({"hosts": ["https://api.example/path"]}, id="a host with a path"),
        pytest.param({"kind": "no\nkind"}, id="no kind"),
        pytest.param({"surprise": VALUE}, id="a second copy"),
    ],
)
async def test_no_refusal_and_no_log_repeats_a_secret(api: Api, change: dict[str, Any]) -> None:
    with capture_logs() as logged:
        answer = await api.ask("PUT", "/api/secrets/model", {**SECRET_BODY, **change})
    assert (answer.status, answer.error["code"]) == (400, "bad_input")
    for said in (answer.body.decode(), str(logged), str(answer.headers)):
        assert "secret-of-the-tests" not in said
        assert "s-ecret" not in said
    assert not api.secrets.rows


@pytest.mark.parametrize("name", ["..%2Fx", "a%20b", "%0A", "-", "x" * 200])
async def test_a_secrets_name_is_a_plain_one(api: Api, name: str) -> None:
    answer = await api.ask("PUT", f"/api/secrets/{name}", SECRET_BODY)
    assert answer.status == 400


async def test_a_secret_is_forgotten(api: Api) -> None:
    await api.ask("PUT", "/api/secrets/model", SECRET_BODY)
    for _ in range(2):
        assert (await api.ask("DELETE", "/api/secrets/model")).status == 204
    assert (await api.ask("GET", "/api/secrets")).json == []


@pytest.mark.parametrize("chunked", [None, True], ids=["with its length", "in chunks"])
async def test_a_body_beyond_the_limit_is_refused(api: Api, *, chunked: bool | None) -> None:
    body = {**TASK_BODY, "description": "x" * (1 << 20)}
    answer = await api.ask("POST", "/api/tasks", body, chunked=chunked)
    assert (answer.status, answer.error["message"]) == (
        413,
        "the body is too long: 1 MiB is the most",
    )
    assert not api.hiring.tasks


@pytest.mark.parametrize(("call", "body"), BODIES.items(), ids=lambda part: str(part)[:40])
async def test_an_outage_is_said_to_be_one(
    api: Api, call: tuple[str, str], body: dict[str, Any]
) -> None:
    api.hiring.down = True
    api.secrets.down = True
    answer = await api.ask(*call, body)
    assert (answer.status, answer.error["code"]) == (503, "unavailable")
    assert not api.woken


async def test_what_somebody_else_changed_first_is_a_conflict(api: Api) -> None:
    api.hiring.refuses = "DEMO/DEMO-1 was changed meanwhile"
    answer = await api.ask("POST", "/api/tasks", TASK_BODY)
    assert (answer.status, answer.error["code"]) == (409, "conflict")
