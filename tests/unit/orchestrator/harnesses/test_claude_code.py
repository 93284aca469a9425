"""What Claude Code says, as its adapter reads it: lines of 2.1.332, without what isn't read."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.harnesses.claude_code import ClaudeCode
from orchestrator.harnesses.lines import LONGEST_RAW

CONVERSATION = "a37356a3-08b0-45a8-8289-03e14057cba8"
KINDS = {
    "started", "text", "reasoning", "tool_call", "tool_result", "usage", "retry", "ended", "raw",
}  # fmt: skip
HARNESS = ClaudeCode()


def read(**said: Any) -> tuple[str, Any]:
    return HARNESS.read(json.dumps(said))


def init(**changes: Any) -> tuple[str, Any]:
    said: dict[str, Any] = {
        "type": "system",
        "subtype": "init",
        "cwd": "/workspace/thing",
        "session_id": CONVERSATION,
        "tools": ["Task", "Bash", "mcp__sandgate__get_task"],
        "mcp_servers": [{"name": "sandgate", "status": "connected", "source": "dynamic"}],
        "model": "claude-sonnet-5",
        "permissionMode": "bypassPermissions",
    }
    return read(**said | changes)


def message(kind: str, *content: Any, **more: Any) -> tuple[str, Any]:
    return read(type=kind, message={"role": kind, "content": list(content), **more})


def result(**changes: Any) -> tuple[str, Any]:
    said = {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "terminal_reason": "completed",
        "result": "All done.",
        "session_id": CONVERSATION,
        "total_cost_usd": 0.35,
        "usage": {"input_tokens": 178364, "output_tokens": 80},
    }
    return read(**said | changes)


def test_a_start_says_model_tools_and_conversation() -> None:
    assert init() == (
        "started",
        {
            "model": "claude-sonnet-5",
            "tools": ["Task", "Bash", "mcp__sandgate__get_task"],
            "conversation": CONVERSATION,
            "unreachable": "",
        },
    )


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"mcp_servers": [{"name": "sandgate", "status": "failed"}]}, "is failed"),
        ({"mcp_servers": [{"name": "sandgate"}]}, "is silent"),
        ({"mcp_servers": []}, "is absent"),
        ({"mcp_servers": "connected"}, "is absent"),
        ({"tools": ["Task", "Bash"]}, "lists no tools"),
        ({"tools": None}, "lists no tools"),
    ],
)
def test_a_server_that_is_not_there_is_told(changes: dict[str, Any], why: str) -> None:
    """It would go on without its server and exit with 0 (see the facts on its MCP client)."""
    assert init(**changes)[1]["unreachable"].endswith(why)


@pytest.mark.parametrize("name", ["../../etc", "*", "", "--help", CONVERSATION + "\n", 7])
def test_an_id_that_is_none_is_not_kept(name: Any) -> None:
    assert init(session_id=name)[1]["conversation"] == ""


def test_words_thoughts_calls_and_results_are_events() -> None:
    assert message("assistant", {"type": "text", "text": "I look."}) == (
        "text",
        {"text": "I look."},
    )
    thought = {"type": "thinking", "thinking": "hm", "signature": "AAA"}
    assert message("assistant", thought) == ("reasoning", {"text": "hm"})
    call = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}}
    assert message("assistant", call) == (
        "tool_call",
        {"id": "toolu_1", "name": "Bash", "input": {"command": "ls"}},
    )
    text = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "a.txt", "is_error": False}
    assert message("user", text) == (
        "tool_result",
        {"id": "toolu_1", "name": "", "is_error": False, "text": "a.txt"},
    )


def test_several_results_in_one_line_are_one_event() -> None:
    first = {
        "type": "tool_result",
        "tool_use_id": "toolu_1",
        "content": [{"type": "text", "text": "one"}],
    }
    second = {"type": "tool_result", "tool_use_id": "toolu_2", "content": "two", "is_error": True}
    assert message("user", first, second) == (
        "tool_result",
        {"id": "toolu_1", "name": "", "is_error": True, "text": "one\n\ntwo"},
    )


@pytest.mark.parametrize(
    ("said", "text"),
    [
        pytest.param(
            {
                "type": "assistant",
                "message": {
                    "model": "<synthetic>",
                    "content": [{"type": "text", "text": "API Error: 403 spent"}],
                },
            },
            "API Error: 403 spent",
            id="the program's own words",
        ),
        pytest.param(
            {
                "type": "user",
                "message": {"content": [{"type": "text", "text": "[Request interrupted by user]"}]},
            },
            "[Request interrupted by user]",
            id="an interruption",
        ),
        pytest.param(
            {
                "type": "system",
                "subtype": "compact_boundary",
                "uuid": "5abc482c",
                "compact_metadata": {"trigger": "auto"},
            },
            "compact_boundary",
            id="a compaction",
        ),
        pytest.param(
            {
                "type": "system",
                "subtype": "permission_denied",
                "tool_name": "Bash",
                "message": "no",
                "session_id": CONVERSATION,
            },
            "permission_denied: tool_name Bash, message no",
            id="a denial, whose result follows",
        ),
    ],
)
def test_what_the_program_says_of_itself_is_kept_as_words(said: dict[str, Any], text: str) -> None:
    """It is no event of the agent's, so it takes no last word back."""
    assert read(**said) == ("raw", {"text": text})


@pytest.mark.parametrize(
    "said",
    [
        {"type": "user", "message": {"content": "Go on with the summary."}},
        {"type": "assistant", "message": {"content": [{"type": "server_tool_use"}]}},
        {"type": "stream_event", "event": {}},
        {"type": "phase", "state": "ended"},
        {"type": ["result"]},
    ],
)
def test_what_is_none_of_our_events_is_kept_as_it_stands(said: dict[str, Any]) -> None:
    assert read(**said) == ("raw", {"text": json.dumps(said)})


@pytest.mark.parametrize(
    ("said", "event"),
    [
        (
            {"error_status": 429, "error": "rate_limit", "retry_delay_ms": 1245},
            {"reason": "rate_limit (429)", "delay_s": 1.245},
        ),
        (
            {"error_status": None, "error": "unknown", "retry_delay_ms": 606},
            {"reason": "unknown", "delay_s": 0.606},
        ),
        ({"retry_delay_ms": "soon"}, {"reason": "unknown", "delay_s": 0}),
    ],
)
def test_a_retry_says_why_and_when(said: dict[str, Any], event: dict[str, Any]) -> None:
    assert read(type="system", subtype="api_retry", **said) == ("retry", event)


FAILED = {"is_error": True, "subtype": "error_during_execution"}


@pytest.mark.parametrize(
    ("said", "reason", "detail"),
    [
        pytest.param({}, "completed", "", id="all went well"),
        pytest.param(
            {
                "is_error": True,
                "terminal_reason": "api_error",
                "api_error_status": 403,
                "result": "API Error: 403 spent",
            },
            "error",
            "API Error: 403 spent",
            id="an API error is called success too (CASE-100)",
        ),
        pytest.param(
            {"is_error": True, "result": "odd"}, "error", "odd", id="completed with an error"
        ),
        pytest.param({"is_error": None}, "error", "All done.", id="nobody says that it is none"),
        pytest.param(
            {
                "is_error": True,
                "terminal_reason": "prompt_too_long",
                "result": "Prompt is too long",
            },
            "context",
            "Prompt is too long",
            id="the context is full",
        ),
        pytest.param(
            {
                **FAILED,
                "terminal_reason": "aborted_tools",
                "result": None,
                "errors": ["[ede] x", 5],
            },
            "interrupted",
            "[ede] x",
            id="interrupted at a tool (CASE-98)",
        ),
        pytest.param(
            {**FAILED, "terminal_reason": "aborted_streaming", "result": None},
            "interrupted",
            "error_during_execution",
            id="interrupted at the model",
        ),
        pytest.param(
            {
                **FAILED,
                "terminal_reason": None,
                "result": None,
                "errors": [f"No conversation found with session ID: {CONVERSATION}"],
            },
            "error",
            f"No conversation found with session ID: {CONVERSATION}",
            id="a conversation that is gone",
        ),
        pytest.param(
            {"is_error": True, "subtype": "error_max_turns", "terminal_reason": "max_turns"},
            "max_turns",
            "All done.",
            id="too many turns",
        ),
        pytest.param(
            {"terminal_reason": "something new"}, "error", "All done.", id="a reason of tomorrow"
        ),
    ],
)
def test_an_end_is_judged_by_its_reason_and_never_by_its_subtype(
    said: dict[str, Any], reason: str, detail: str
) -> None:
    """CASE-102: what it says of cost, which is of the whole conversation, is not taken up."""
    assert result(**said) == ("ended", {"reason": reason, "detail": detail})


@given(st.text())
def test_no_line_raises(line: str) -> None:
    kind, data = HARNESS.read(line)
    assert kind in KINDS
    assert isinstance(data, dict)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(
        [
            "text",
            "thinking",
            "tool_use",
            "tool_result",
            "init",
            "api_retry",
            "connected",
            "sandgate",
        ]
    )
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["type", "content", "text", "id", "name", "input", "status", "model", "tool_use_id"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)
FIELDS = (
    "subtype", "message", "session_id", "tools", "mcp_servers", "model", "error", "error_status",
    "retry_delay_ms", "is_error", "terminal_reason", "result", "errors",
)  # fmt: skip


@given(
    st.sampled_from(["system", "assistant", "user", "result", "other"]),
    st.dictionaries(st.sampled_from(FIELDS), VALUES),
)
def test_no_object_raises_and_all_that_is_read_is_text_where_text_is_due(
    kind: str, fields: dict[str, Any]
) -> None:
    event, data = HARNESS.read(json.dumps({"type": kind, **fields}))
    assert event in KINDS
    for name in ("text", "detail", "reason", "conversation", "unreachable", "model", "id", "name"):
        assert isinstance(data.get(name, ""), str)
    json.dumps(data)


def test_an_endless_line_is_cut() -> None:
    assert HARNESS.read('{"type": "system", "x": "' + "y" * (9 << 20))[1] == {
        "text": '{"type": "system", "x": "' + "y" * (LONGEST_RAW - 25)
    }
