"""What a request may not ask of the provider."""

from typing import Any

import pytest

from entrance.model.dialects.anthropic_rules import all_blocks, troubles

PLAIN: dict[str, Any] = {
    "model": "m",
    "max_tokens": 128000,
    "stream": True,
    "system": [{"type": "text", "text": "x-anthropic-billing-header: cc_version=1"}],
    "metadata": {"user_id": "u"},
    "thinking": {"type": "adaptive"},
    "context_management": {"edits": []},
    "output_config": {"effort": "medium"},
    "messages": [
        {"role": "user", "content": "Hi"},
        {"role": "system", "content": "env"},
        {
            "role": "assistant",
            "content": [
                {
                    "type": "tool_use",
                    "id": "t",
                    "name": "fetch",
                    "input": {"source": {"type": "url", "url": "https://x"}, "file_id": "f"},
                }
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "t",
                    "content": [{"type": "image", "source": {"type": "base64", "data": "AA=="}}],
                },
                {"type": "tool_addition", "tool": {"type": "tool_reference", "name": "Bash"}},
            ],
        },
    ],
    "tools": [
        {"name": "Bash", "input_schema": {"type": "object"}},
        {"type": "custom", "name": "Edit", "input_schema": {"type": "object"}},
        {"type": "bash_20250124", "name": "bash"},
        {"type": "text_editor_20250728", "name": "edit"},
    ],
}


def said(**changes: Any) -> str:
    asked = PLAIN | changes
    return "; ".join(troubles(asked, all_blocks(asked)))


def content(block: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"role": "user", "content": [block]}]


def test_what_a_harness_sends_is_let_through() -> None:
    """CASE-104: also messages with the role system."""
    assert said() == ""


@pytest.mark.parametrize(
    ("key", "value"),
    [("speed", "standard"), ("service_tier", "auto"), ("fallbacks", None), ("mcp_servers", [])],
)
def test_harmless_values_of_guarded_keys_are_let_through(key: str, value: object) -> None:
    assert said(**{key: value}) == ""


@pytest.mark.parametrize(
    ("key", "value"),
    [
        pytest.param("mcp_servers", [{"url": "https://evil"}], id="a remote MCP server"),
        pytest.param("container", "c", id="a container"),
        pytest.param("fallbacks", [{"model": "other"}], id="another model"),
        pytest.param("thread", {"type": "continue"}, id="a stored conversation"),
        pytest.param("workspace_id", "w", id="another workspace"),
        pytest.param("a_key_of_the_future", 1, id="a key that nobody has thought about"),
        pytest.param("speed", "fast", id="a faster speed"),
        pytest.param("speed", {"x": 1}, id="a speed that is no word"),
        pytest.param("inference_geo", "us", id="a dearer place"),
    ],
)
def test_keys_that_reach_out_or_cost_more_are_refused_by_name(key: str, value: object) -> None:
    assert key in said(**{key: value})


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "web_search_20250305", "name": "web_search"},
        {"type": "web_fetch_20260318", "name": "web_fetch"},
        {"type": "code_execution_20260120", "name": "code_execution"},
        {"type": "mcp_toolset", "mcp_server_name": "x"},
        {"type": "advisor_20260301", "name": "advisor", "model": "other"},
        {"type": 5},
    ],
)
def test_tools_that_run_at_the_provider_are_refused_wherever_they_stand(
    tool: dict[str, Any],
) -> None:
    assert "runs at the provider" in said(tools=[tool])
    addition = {"type": "tool_addition", "tool": {"type": "tool_definition", "definition": tool}}
    assert "runs at the provider" in said(messages=content(addition))


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "source": {"type": "url", "url": "https://evil/?data"}},
        {"type": "document", "source": {"type": "file", "file_id": "f"}},
        {"type": "image", "source": {}},
        {"type": "container_upload", "file_id": "f"},
    ],
)
def test_content_that_the_provider_would_fetch_is_refused_however_deep(
    block: dict[str, Any],
) -> None:
    deep = {"type": "tool_result", "tool_use_id": "t", "content": [block]}
    inside = {"type": "document", "source": {"type": "content", "content": [block]}}
    for one in (block, deep, inside):
        assert "send the content itself" in said(messages=content(one))
