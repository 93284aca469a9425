"""Codex's adapter: what is started, and its lines as Codex 0.171 writes them."""

import fnmatch
import json
import tomllib
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.harnesses import HARNESSES
from orchestrator.harnesses.codex import HOME, INSTRUCTIONS, PROMPT, Codex
from orchestrator.harnesses.lines import LONGEST_RAW
from orchestrator.ports import Assignment, Start

THREAD = "01a22871-277e-7650-bd23-102b9ba9fb59"
ASSIGNMENT = Assignment(
    model="openai:gpt-5.5",
    system="the rules",
    prompt="the task",
    entrance="http://10.1.2.1:8080",
    run_token="sgr_secret",
    workdir="/workspace/thing",
    env={"GIT_AUTHOR_NAME": "Rex"},
)
BUDGET = (
    "unexpected status 403 Forbidden: the run's budget of $1.00 can't pay this call: $0.00 is spent;"
    " end here, a person can raise it, url: http://127.0.0.1:36619/model/openai/v1/responses"
)
LACKS_TOOLS = (
    "Error: thread/start: thread/start failed: error creating thread: Fatal error: Failed to"
    " initialize session: required MCP servers failed to initialize: sandgate: handshaking with MCP"
    " server failed: (code -32603)"
)
GONE = (
    "Error: thread/resume: thread/resume failed: no rollout found for thread id"
    f" {THREAD} (code -32600)"
)
NO_ROOM = (
    "Codex ran out of room in the model's context window. Start a new thread or clear earlier"
    " history before retrying."
)


def item(when: str, **fields: Any) -> str:
    return json.dumps({"type": f"item.{when}", "item": {"id": "item_1", **fields}})


def settings(start: Start) -> dict[str, Any]:
    return tomllib.loads(start.files[f"{HOME}/config.toml"].decode())


LINES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "its conversation": (
        json.dumps({"type": "thread.started", "thread_id": THREAD}),
        "started",
        {"conversation": THREAD, "unreachable": ""},
    ),
    "words": (item("completed", type="agent_message", text="Hm."), "text", {"text": "Hm."}),
    "thoughts": (item("completed", type="reasoning", text="**So**"), "reasoning", {"text": "**So**"}),
    "a command": (
        item("started", type="command_execution", command="/usr/bin/bash -lc 'ls'",
             aggregated_output="", exit_code=None, status="in_progress"),
        "tool_call",
        {"id": "item_1", "name": "exec_command", "input": {"command": "/usr/bin/bash -lc 'ls'"}},
    ),
    "its output": (
        item("completed", type="command_execution", command="ls", aggregated_output="a\nb\n",
             exit_code=0, status="completed"),
        "tool_result",
        {"id": "item_1", "name": "exec_command", "is_error": False, "text": "a\nb\n"},
    ),
    "a command that failed": (
        item("completed", type="command_execution", command="x", aggregated_output="no\n",
             exit_code=3, status="failed"),
        "tool_result",
        {"id": "item_1", "name": "exec_command", "is_error": True, "text": "no\n"},
    ),
    "a tool of the door": (
        item("started", type="mcp_tool_call", server="sandgate", tool="get_task",
             arguments={"key": "T-1"}, result=None, error=None, status="in_progress"),
        "tool_call",
        {"id": "item_1", "name": "mcp__sandgate__get_task", "input": {"key": "T-1"}},
    ),
    "its answer": (
        item("completed", type="mcp_tool_call", server="sandgate", tool="get_task", arguments={},
             result={"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
                     "structured_content": None}, error=None, status="completed"),
        "tool_result",
        {"id": "item_1", "name": "mcp__sandgate__get_task", "is_error": False, "text": "a\nb"},
    ),
    "a refusal": (
        item("completed", type="mcp_tool_call", server="sandgate", tool="get_task", arguments={},
             result={"content": [{"type": "text", "text": "Refused: no."}]}, error=None,
             status="failed"),
        "tool_result",
        {"id": "item_1", "name": "mcp__sandgate__get_task", "is_error": True,
         "text": "Refused: no."},
    ),
    "a tool that did not answer": (
        item("completed", type="mcp_tool_call", server="sandgate", tool="get_task", arguments={},
             result=None, error={"message": "timed out"}, status="failed"),
        "tool_result",
        {"id": "item_1", "name": "mcp__sandgate__get_task", "is_error": True, "text": "timed out"},
    ),
    "an edit": (
        item("started", type="file_change", changes=[{"path": "/a.py", "kind": "update"}],
             status="in_progress"),
        "tool_call",
        {"id": "item_1", "name": "apply_patch",
         "input": {"changes": [{"path": "/a.py", "kind": "update"}]}},
    ),
    "a sub-agent": (
        item("started", type="collab_tool_call", tool="spawn_agent", sender_thread_id=THREAD,
             receiver_thread_ids=[], prompt="look", agents_states={}, status="in_progress"),
        "tool_call",
        {"id": "item_1", "name": "spawn_agent", "input": {"prompt": "look"}},
    ),
    "a warning": (
        item("completed", type="error", message="Model metadata for `foo` not found."),
        "raw",
        {"text": "Model metadata for `foo` not found."},
    ),
    "another try": (
        '{"type": "error", "message": "Reconnecting... 1/2 (stream disconnected)"}',
        "retry",
        {"reason": "Reconnecting... 1/2 (stream disconnected)"},
    ),
    "an error, which alone ends nothing": (
        json.dumps({"type": "error", "message": BUDGET}), "raw", {"text": BUDGET},
    ),
    "the end": (
        '{"type": "turn.completed", "usage": {"input_tokens": 74712, "output_tokens": 81}}',
        "ended",
        {"reason": "completed", "detail": ""},
    ),
    "a failure": (
        json.dumps({"type": "turn.failed", "error": {"message": BUDGET}}),
        "ended",
        {"reason": "error", "detail": BUDGET},
    ),
    "a failure without a word": (
        '{"type": "turn.failed", "error": null}', "ended", {"reason": "error", "detail": ""},
    ),
    "no more room": (
        json.dumps({"type": "turn.failed", "error": {"message": NO_ROOM}}),
        "ended",
        {"reason": "context", "detail": NO_ROOM},
    ),
    "no tools, on standard error": (LACKS_TOOLS, "ended", {"reason": "tools", "detail": LACKS_TOOLS}),
    "no such conversation, on standard error": (GONE, "ended", {"reason": "error", "detail": GONE}),
    "a log line": (
        "2026-11-29T18:02:28.005531Z ERROR codex_core::tools::router: error=unsupported call: x",
        "raw",
        {"text": "2026-11-29T18:02:28.005531Z ERROR codex_core::tools::router:"
                 " error=unsupported call: x"},
    ),
    "an event that is not known": ('{"type": "turn.started"}', "raw", {"text": '{"type": "turn.started"}'}),
}  # fmt: skip


@pytest.mark.parametrize("what", LINES)
def test_each_line_is_one_event(what: str) -> None:
    """CASE-102: what it says of usage, which is of the whole conversation, is left out."""
    line, kind, data = LINES[what]
    assert Codex().read(line) == (kind, data)


def _mangled(line: str) -> st.SearchStrategy[str]:
    """The line with a value at any place replaced by something else."""
    values = st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner),
        max_leaves=3,
    )
    whole = json.loads(line)
    places = [(key,) for key in whole] + [
        (key, inner) for key, value in whole.items() if isinstance(value, dict) for inner in value
    ]
    return st.tuples(st.sampled_from(places), values).map(lambda drawn: _put(whole, *drawn))


def _put(whole: dict[str, Any], place: tuple[str, ...], value: object) -> str:
    if len(place) == 1:
        return json.dumps({**whole, place[0]: value})
    return json.dumps({**whole, place[0]: {**whole[place[0]], place[1]: value}})


EVENTS = [line for line, _, _ in LINES.values() if line.startswith("{")]
ANY_LINE = st.text() | st.sampled_from(EVENTS).flatmap(_mangled)


@given(ANY_LINE)
def test_no_line_is_too_odd_to_be_read(line: str) -> None:
    kind, data = Codex().read(line)
    assert kind in {
        "started", "text", "reasoning", "tool_call", "tool_result", "retry", "ended", "raw",
    }  # fmt: skip
    assert all(isinstance(key, str) for key in data)
    assert kind != "raw" or len(data["text"]) <= LONGEST_RAW


@pytest.mark.parametrize(
    "line", ["[" * 100_000, '{"type":' * 5000, "\ud800", "\x00", "9" * 9999, ""]
)
def test_hostile_lines_are_kept_short_and_raw(line: str) -> None:
    assert Codex().read(line) == ("raw", {"text": line[:LONGEST_RAW]})


def test_it_is_a_known_harness() -> None:
    assert isinstance(HARNESSES["codex"], Codex)


def test_the_door_is_the_only_model_and_the_only_server() -> None:
    config = settings(Codex().start(ASSIGNMENT))
    (provider,) = config["model_providers"].values()
    (server,) = config["mcp_servers"].values()
    assert config["model"] == "gpt-5.5"
    assert provider["base_url"] == "http://10.1.2.1:8080/model/openai/v1"
    assert server["url"] == "http://10.1.2.1:8080/mcp"
    assert provider["env_key"] == server["bearer_token_env_var"] == "SANDGATE_RUN_TOKEN"
    assert server["required"]


def test_it_asks_for_no_other_host() -> None:
    """CASE-105."""
    config = settings(Codex().start(ASSIGNMENT))
    assert not config["features"]["plugins"]
    assert not config["features"]["apps"]
    assert not config["analytics"]["enabled"]


def test_the_token_is_in_the_environment_and_in_no_file() -> None:
    start = Codex().start(ASSIGNMENT)
    assert start.env["SANDGATE_RUN_TOKEN"] == "sgr_secret"
    assert not any(b"sgr_secret" in content for content in start.files.values())
    assert not any("sgr_secret" in argument for argument in start.argv)


def test_texts_go_by_files_whole_and_outside_of_the_repository() -> None:
    long = ASSIGNMENT.system + "\n" + "x" * 300_000
    start = Codex().start(replace(ASSIGNMENT, system=long, prompt=long))
    assert start.files[INSTRUCTIONS] == start.files[PROMPT] == long.encode()
    assert all(path.startswith("/home/agent/") for path in start.files)
    assert max(map(len, start.argv)) < 1000
    assert start.cwd == "/workspace/thing"
    assert start.env["GIT_AUTHOR_NAME"] == "Rex"


def test_a_conversation_is_gone_on_with_by_its_id() -> None:
    new = Codex().start(ASSIGNMENT)
    again = Codex().start(replace(ASSIGNMENT, resume=THREAD))
    assert "resume" not in new.argv
    assert [*again.argv[-2:]] == [THREAD, "-"]
    assert set(again.argv) - set(new.argv) == {"resume", THREAD}


def test_where_a_conversation_is_kept() -> None:
    path = f"{HOME}/sessions/2026/11/29/rollout-2026-11-29T17-53-54-{THREAD}.jsonl"
    assert fnmatch.fnmatch(path, Codex().kept_at(THREAD, "/workspace/thing"))
    assert not fnmatch.fnmatch(path, Codex().kept_at(THREAD.replace("0", "1"), "/workspace"))


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_model_of_any_name_leaves_the_settings_whole(model: str) -> None:
    config = settings(Codex().start(replace(ASSIGNMENT, model=f"openai:{model}")))
    assert config["model"] == model
    assert config["features"]["hooks"] is False
