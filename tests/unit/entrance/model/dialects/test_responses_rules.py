"""What a Responses request may not ask of the provider."""

from typing import Any

import pytest

from entrance.model.dialects.responses_rules import troubles

FUNCTION = {"type": "function", "name": "get", "parameters": {}, "strict": False}
NAMESPACE = {"type": "namespace", "name": "mcp__sandgate", "description": "d", "tools": [FUNCTION]}
DATA = "data:image/png;base64,AA=="

CODEX: dict[str, Any] = {
    "model": "m",
    "instructions": "",
    "input": [
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "x"}]},
        {"role": "user", "content": "Hi"},
        {"role": "user", "content": [{"type": "input_image", "image_url": DATA, "file_id": None}]},
        {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "s"}],
         "content": None, "encrypted_content": "e"},
        {"type": "function_call", "call_id": "c", "name": "get", "arguments": '{"file_id": 1}'},
        {"type": "function_call_output", "call_id": "c", "output": "text"},
        {"type": "function_call_output", "call_id": "c",
         "output": [{"type": "input_text", "text": "x"}, {"type": "input_image", "image_url": DATA}]},
        {"type": "custom_tool_call", "call_id": "c", "name": "apply_patch", "input": "*** Begin"},
        {"type": "custom_tool_call_output", "call_id": "c", "output": "ok"},
        {"type": "local_shell_call", "call_id": "c", "action": {"type": "exec"}},
        {"type": "shell_call", "call_id": "c", "environment": {"type": "local"}},
        {"type": "shell_call_output", "call_id": "c",
         "output": [{"stdout": "", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]},
        {"type": "tool_search_call", "call_id": "c", "execution": "client", "arguments": {}},
        {"type": "tool_search_output", "call_id": "c", "tools": [NAMESPACE]},
        {"type": "agent_message", "author": "/root", "recipient": "/root/t1",
         "content": [{"type": "input_text", "text": "Message Type: NEW_TASK"},
                     {"type": "encrypted_content", "encrypted_content": "e"}]},
        {"type": "message", "role": "assistant", "id": "m",
         "content": [{"type": "output_text", "text": "x", "annotations": []}]},
    ],
    "tools": [
        FUNCTION,
        NAMESPACE,
        {"type": "custom", "name": "apply_patch", "format": {"type": "grammar"}},
        {"type": "local_shell"},
        {"type": "apply_patch"},
        {"type": "shell", "environment": {"type": "local"}},
        {"type": "tool_search", "execution": "client"},
    ],
    "tool_choice": "auto",
    "parallel_tool_calls": False,
    "reasoning": {"effort": "medium", "summary": "auto"},
    "store": False,
    "stream": True,
    "include": ["reasoning.encrypted_content"],
    "prompt_cache_key": "k",
    "text": {"verbosity": "low"},
    "client_metadata": {"x": "y"},
}  # fmt: skip


def said(**changes: Any) -> str:
    return "; ".join(troubles(CODEX | changes))


def test_what_a_harness_sends_is_let_through() -> None:
    assert said() == ""


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("background", False), ("service_tier", "auto"), ("service_tier", "flex"),
        ("previous_response_id", None), ("conversation", None), ("store", None),
        ("reasoning", {"mode": "standard"}), ("include", None), ("tools", None), ("input", "Hi"),
    ],
)  # fmt: skip
def test_harmless_values_of_guarded_keys_are_let_through(key: str, value: object) -> None:
    assert said(**{key: value}) == ""


@pytest.mark.parametrize(
    ("key", "value"),
    [
        pytest.param("background", True, id="goes on without us"),
        pytest.param("background", 0, id="a number that is false"),
        pytest.param("background_options", {"completion_window": "2h"}, id="later"),
        pytest.param("store", True, id="kept at the provider"),
        pytest.param("conversation", "conv_1", id="a kept conversation"),
        pytest.param("previous_response_id", "resp_1", id="a kept response"),
        pytest.param("prompt", {"id": "pmpt_1"}, id="a kept prompt"),
        pytest.param("service_tier", "priority", id="dearer"),
        pytest.param("service_tier", ["auto"], id="no word"),
        pytest.param("access_programs", {"cyber": "x"}, id="another programme"),
        pytest.param("moderation", {"model": "x"}, id="another model"),
        pytest.param("image", {"x": 1}, id="pictures"),
        pytest.param("a_key_of_the_future", 1, id="a key that nobody has thought about"),
    ],
)
def test_keys_that_reach_out_or_cost_more_are_refused_by_name(key: str, value: object) -> None:
    assert f"`{key}`" in said(**{key: value})


def test_reasoning_at_another_price_is_refused_by_name() -> None:
    assert "`reasoning.mode`" in said(reasoning={"mode": "pro"})


@pytest.mark.parametrize(
    "wanted", ["web_search_call.action.sources", "file_search_call.results", 3]
)
def test_results_of_the_providers_tools_are_not_asked_for(wanted: object) -> None:
    assert str(wanted) in said(include=[wanted])


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "web_search"},
        {"type": "web_search_preview_2025_03_11"},
        {"type": "file_search", "vector_store_ids": ["v"]},
        {"type": "code_interpreter", "container": {"type": "auto"}},
        {"type": "computer"},
        {"type": "computer_use_preview"},
        {"type": "mcp", "server_label": "x", "server_url": "https://evil.example"},
        {"type": "image_generation"},
        {"type": "programmatic_tool_calling"},
        {"type": "a_tool_of_the_future"},
        {"type": None},
        {},
    ],
)
def test_tools_that_run_at_the_provider_are_refused_wherever_they_stand(
    tool: dict[str, Any],
) -> None:
    for changes in (
        {"tools": [tool]},
        {"tools": [NAMESPACE | {"tools": [tool]}]},
        {"input": [{"type": "tool_search_output", "tools": [tool]}]},
        {"input": [{"type": "additional_tools", "role": "developer", "tools": [tool]}]},
    ):
        assert f"tool type {tool.get('type')}" in said(**changes)


@pytest.mark.parametrize("environment", [{"type": "container_auto"}, {}, None])
def test_a_shell_is_let_through_in_the_sandbox_only(environment: object) -> None:
    assert "shell" in said(tools=[{"type": "shell", "environment": environment}])


@pytest.mark.parametrize(
    "item",
    [
        {"type": "item_reference", "id": "msg_1"},
        {"type": "mcp_call", "server_label": "x"},
        {"type": "mcp_approval_response"},
        {"type": "image_generation_call"},
        {"type": "computer_call"},
        {"type": "code_interpreter_call"},
        {"type": "program"},
        {"type": 5},
    ],
)
def test_items_that_stand_for_what_is_kept_or_runs_there_are_refused(item: dict[str, Any]) -> None:
    assert f"item type {item['type']}" in said(input=[item])


def test_a_call_in_a_container_is_refused() -> None:
    item = {"type": "shell_call", "environment": {"type": "container_reference", "id": "c"}}
    assert "environment" in said(input=[item])


@pytest.mark.parametrize(
    "piece",
    [
        {"type": "input_image", "image_url": "https://evil.example/?data"},
        {"type": "input_image", "file_id": "file-1"},
        {"type": "input_file", "file_url": "https://evil.example/x.pdf"},
        {"type": "input_file", "file_id": "file-1"},
        {"type": "input_text", "image_url": {"url": "https://evil.example"}},
    ],
)
def test_content_that_the_provider_would_fetch_is_refused_wherever_it_stands(
    piece: dict[str, Any],
) -> None:
    for item in (
        {"role": "user", "content": [piece]},
        {"type": "function_call_output", "call_id": "c", "output": [piece]},
        {"type": "custom_tool_call_output", "call_id": "c", "output": piece},
    ):
        assert "send the content itself" in said(input=[item])


def test_sound_is_refused() -> None:
    piece = {"type": "input_audio", "input_audio": {"data": "AA=="}}
    assert "input_audio" in said(input=[{"role": "user", "content": [piece]}])
