"""OpenAI Responses: what is read of a request, what is written of an answer."""

import json
from typing import Any

import pytest

from orchestrator.stack.scripted.answers import Answer, Tokens, ToolCall
from orchestrator.stack.scripted.dialects.openai_responses import OpenAIResponses
from orchestrator.stack.scripted.request import Form, NotUnderstood, Prompt, Request, Result

POINT = "0123456789abcdef01234567"


def read(items: Any, **more: Any) -> Request:
    body = json.dumps({"model": "m", "input": items, **more}).encode()
    return OpenAIResponses().read(body, "/v1/responses")


def said(role: str, *texts: str) -> dict[str, Any]:
    parts = [{"type": "input_text", "text": text} for text in texts]
    return {"type": "message", "role": role, "content": parts}


def call(id_: str, name: str = "exec_command", **more: Any) -> dict[str, Any]:
    return {"type": "function_call", "call_id": id_, "name": name, "arguments": "{}", **more}


def output(id_: str, text: Any = "ok", kind: str = "function_call") -> dict[str, Any]:
    return {"type": f"{kind}_output", "call_id": id_, "output": text}


def names(request: Request) -> list[tuple[str, ...]]:
    return [turn.names for turn in request.prompts[-1].turns]


def test_the_input_may_be_a_word() -> None:
    request = read("go", instructions="be good", stream=True)
    assert (request.prompts, request.system) == ((Prompt("go"),), "be good")
    assert request.stream


def test_what_codex_says_on_its_own_is_no_prompt_but_can_be_found() -> None:
    """Its instructions are messages of a developer; AGENTS.md and the environment come in the user's
    name."""
    agents = "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nBe nice.\n\n</INSTRUCTIONS>"
    place = "<environment_context>\n  <cwd>/w</cwd>\n</environment_context>"
    request = read(
        [
            said("developer", "You are Codex."),
            said("user", agents, place),
            said("user", "Fix it"),
            said("assistant", "Fixed."),
            said("user", place),
            said("user", "<turn_aborted>\nby the user\n</turn_aborted>", "Sent back"),
        ]
    )
    assert [prompt.text for prompt in request.prompts] == ["Fix it", "Sent back"]
    for text in ("You are Codex.", "Be nice.", "<cwd>/w</cwd>"):
        assert text in request.system


def test_calls_side_by_side_are_one_answer_and_find_their_outputs() -> None:
    request = read([said("user", "go"), call("a"), call("b"), output("b", "B"), output("a", "A")])
    (turn,) = request.prompts[0].turns
    assert turn.results == (Result("A", is_error=None), Result("B", is_error=None))


def test_calls_of_two_answers_are_told_apart() -> None:
    one, other = call("a"), call("b")
    assert names(read([said("user", "go"), one, output("a"), other, output("b")])) == [
        ("exec_command",),
        ("exec_command",),
    ]
    ours = [f"call_{POINT}000{number:02d}" for number in range(2)]
    mixed = [call(ours[0]), output(ours[0]), call(ours[1]), output(ours[1])]
    assert names(read([said("user", "go"), *mixed])) == [("exec_command", "exec_command")]


def test_reasoning_and_words_beside_a_call_belong_to_its_answer() -> None:
    reasoning = {"type": "reasoning", "summary": [], "encrypted_content": "x"}
    items = [said("user", "go"), reasoning, said("assistant", "I look."), call("a"), output("a")]
    assert names(read(items)) == [("exec_command",)]


def test_tools_of_every_form_are_known_by_one_name() -> None:
    """Codex: MCP tools in namespaces, free text, and what a search brought."""
    found = {
        "type": "tool_search_output",
        "call_id": "s",
        "tools": [{"type": "namespace", "name": "mcp__sandgate", "tools": [{"name": "get_task"}]}],
    }
    more = {
        "type": "additional_tools",
        "role": "developer",
        "tools": [
            {
                "type": "namespace",
                "name": "functions",
                "tools": [{"type": "custom", "name": "exec"}],
            }
        ],
    }
    search = {"type": "tool_search_call", "call_id": "s", "arguments": {}}
    called = call("t", "get_task", namespace="mcp__sandgate")
    request = read(
        [more, said("user", "go"), search, found, called, output("t")],
        tools=[
            {"type": "function", "name": "exec_command"},
            {"type": "custom", "name": "apply_patch"},
            {"type": "tool_search", "execution": "client"},
            {"type": "web_search"},
        ],
    )
    assert request.forms == {
        "exec_command": Form("exec_command"),
        "apply_patch": Form("apply_patch", "text"),
        "tool_search": Form("tool_search", "search"),
        "mcp__sandgate__get_task": Form("get_task", "function", "mcp__sandgate"),
        "functions__exec": Form("exec", "text", "functions"),
    }
    assert request.tools == set(request.forms)
    assert names(request) == [("tool_search",), ("mcp__sandgate__get_task",)]


def test_an_output_of_parts_is_read_without_codexs_head() -> None:
    parts = [
        {"type": "input_text", "text": "Wall time: 0.0124 seconds\nOutput:"},
        {"type": "input_text", "text": "item T-1"},
        {"type": "input_image", "image_url": "data:"},
    ]
    request = read([said("user", "go"), call("a"), output("a", parts)])
    assert request.prompts[0].turns[0].results == (
        Result("item T-1\n[input_image]", is_error=None),
    )


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'{"model": "m"}',
        b'{"model": "m", "input": []}',
        b'{"model": "m", "input": [3]}',
        b'{"model": "m", "input": "go", "previous_response_id": "resp_1"}',
    ],
)
def test_what_is_no_request_is_refused(body: bytes) -> None:
    with pytest.raises(NotUnderstood):
        OpenAIResponses().read(body, "/v1/responses")


FORMS = {
    "apply_patch": Form("apply_patch", "text"),
    "tool_search": Form("tool_search", "search"),
    "mcp__sandgate__get_task": Form("get_task", "function", "mcp__sandgate"),
}
ASKED = Request("m", True, "", (Prompt("go"),), frozenset(FORMS), 9, FORMS)  # noqa: FBT003 - a value
ANSWER = Answer(
    "m",
    POINT,
    "two words",
    (
        ToolCall(f"{POINT}00", "bash", {"command": "é" * 50}),
        ToolCall(f"{POINT}01", "mcp__sandgate__get_task", {"id": 1}),
        ToolCall(f"{POINT}02", "apply_patch", "*** Begin Patch\n*** End Patch\n"),
        ToolCall(f"{POINT}03", "tool_search", {"query": "get", "limit": 8}),
    ),
    Tokens(10, 9, 7, 8, reasoning=4),
)


def test_a_whole_answer_has_thoughts_words_calls_and_usage() -> None:
    whole = json.loads(json.dumps(OpenAIResponses().whole(ANSWER, ASKED)))
    thought, words, plain, inner, patch, search = whole["output"]
    assert (thought["type"], words["content"][0]["text"]) == ("reasoning", "two words")
    assert json.loads(plain["arguments"]) == {"command": "é" * 50}
    assert (inner["namespace"], inner["name"]) == ("mcp__sandgate", "get_task")
    assert (patch["type"], patch["input"]) == ("custom_tool_call", ANSWER.calls[2].arguments)
    assert (search["type"], search["execution"]) == ("tool_search_call", "client")
    assert search["arguments"] == {"query": "get", "limit": 8}
    assert plain["call_id"] == f"call_{POINT}00"
    assert whole["usage"] == {
        "input_tokens": 25,
        "input_tokens_details": {"cached_tokens": 7, "cache_write_tokens": 8},
        "output_tokens": 9,
        "output_tokens_details": {"reasoning_tokens": 4},
        "total_tokens": 34,
    }


def test_a_streamed_answer_adds_up_to_the_whole_one() -> None:
    dialect = OpenAIResponses()
    pieces = [piece.data.decode().splitlines() for piece in dialect.pieces(ANSWER, ASKED)]
    events = [json.loads(lines[1].removeprefix("data: ")) for lines in pieces]
    assert [f"event: {event['type']}" for event in events] == [lines[0] for lines in pieces]
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    kinds = [event["type"].removeprefix("response.") for event in events]
    assert (kinds[:2], kinds[-1]) == (["created", "in_progress"], "completed")
    whole = dialect.whole(ANSWER, ASKED)
    assert events[-1]["response"] == json.loads(json.dumps(whole))
    done = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    assert done == events[-1]["response"]["output"]
    deltas = {"output_text": "two words", "custom_tool_call_input": ANSWER.calls[2].arguments}
    for kind, text in deltas.items():
        told = [event["delta"] for event in events if event["type"] == f"response.{kind}.delta"]
        assert "".join(told) == text
    search = ANSWER.calls[3].arguments
    added = [event["item"] for event in events if event["type"] == "response.output_item.added"]
    assert [item["arguments"] for item in added if "arguments" in item] == ["", "", search]
    assert added[1]["content"] == []
