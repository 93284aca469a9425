"""A later run goes on with a conversation: what is new is played, as each harness says it."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from orchestrator.stack.scripted import parse
from orchestrator.stack.scripted.dialects.anthropic import Anthropic
from orchestrator.stack.scripted.dialects.gemini import Gemini
from orchestrator.stack.scripted.dialects.openai_chat import OpenAIChat
from orchestrator.stack.scripted.dialects.openai_responses import OpenAIResponses
from orchestrator.stack.scripted.playing import play
from orchestrator.stack.scripted.request import Request

SCENARIO = parse(
    """
scenario: 1
conversations:
  - name: feedback
    when: {prompt_contains: [sent back, reword it], earlier_contains: [do T-7, "task is open"]}
    steps: [{shell: first}, {shell: second}]
  - name: never
    when: {prompt_contains: sent back}
    steps: [{say: I know nothing of it.}]
  - name: work
    steps: [{shell: look}, {shell: hand in}]
"""
)
BACK = "Your work was sent back.\n\n<comment>reword it</comment>"


def claude() -> Request:
    """Claude Code 2.1.332, interrupted by us after the tool that ended the first run."""
    reminder = "<system-reminder>\n# Environment\n</system-reminder>"
    left = {"role": "system", "content": "<system-reminder>so many tokens left</system-reminder>"}
    messages = [
        {"role": "user", "content": [_text(reminder), _text("do T-7")]},
        {"role": "system", "content": reminder},
        _use("1"),
        {"role": "user", "content": [_used("1", "task is open")]},
        left,
        _use("2"),
        {
            "role": "user",
            "content": [_used("2", "ok"), _text("[Request interrupted by user for tool use]")],
        },
        left,
        {"role": "user", "content": [_text(reminder), _text(BACK)]},
        left,
        _use("3"),
        {"role": "user", "content": [_used("3", "ok"), _text(reminder)]},
        {"role": "system", "content": [_text(reminder)]},
    ]
    body = {"model": "m", "messages": messages, "tools": [{"name": "Bash"}]}
    return Anthropic().read(json.dumps(body).encode(), "/v1/messages?beta=true")


def _text(text: str) -> Mapping[str, Any]:
    return {"type": "text", "text": text}


def _use(id_: str) -> Mapping[str, Any]:
    call = {"type": "tool_use", "id": id_, "name": "Bash", "input": {}}
    return {"role": "assistant", "content": [_text("hm"), call]}


def _used(id_: str, text: str) -> Mapping[str, Any]:
    return {"type": "tool_result", "tool_use_id": id_, "content": text}


def codex() -> Request:
    """Codex 0.171, which says where it is in the user's name, again at every start."""
    place = "<environment_context>\n  <cwd>/w</cwd>\n</environment_context>"
    body = {
        "model": "m",
        "tools": [{"type": "function", "name": "exec_command"}],
        "input": [
            _item("developer", "You are Codex."),
            _item("user", place),
            _item("user", "do T-7"),
            *_called("1", "task is open"),
            *_called("2", "ok"),
            _item("user", "<turn_aborted>\nThe user interrupted.\n</turn_aborted>"),
            _item("developer", "Be careful."),
            _item("user", place),
            _item("user", BACK),
            {"type": "reasoning", "summary": [], "encrypted_content": "x"},
            *_called("3", "ok"),
        ],
    }
    return OpenAIResponses().read(json.dumps(body).encode(), "/v1/responses")


def _item(role: str, text: str) -> Mapping[str, Any]:
    content = [{"type": "input_text", "text": text}]
    return {"type": "message", "role": role, "content": content}


def _called(id_: str, text: str) -> list[Mapping[str, Any]]:
    call = {"type": "function_call", "call_id": id_, "name": "exec_command", "arguments": "{}"}
    return [call, {"type": "function_call_output", "call_id": id_, "output": text}]


def chat() -> Request:
    def used(id_: str, text: str) -> list[Mapping[str, Any]]:
        call = {"id": id_, "type": "function", "function": {"name": "bash", "arguments": "{}"}}
        result = {"role": "tool", "tool_call_id": id_, "content": text}
        return [{"role": "assistant", "content": None, "tool_calls": [call]}, result]

    messages = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "do T-7"},
        *used("1", "task is open"),
        *used("2", "ok"),
        {"role": "user", "content": BACK},
        *used("3", "ok"),
    ]
    tools = [{"type": "function", "function": {"name": "bash"}}]
    body = {"model": "m", "messages": messages, "tools": tools}
    return OpenAIChat().read(json.dumps(body).encode(), "/v1/chat/completions")


def gemini() -> Request:
    def used(text: str) -> list[Mapping[str, Any]]:
        call = {"functionCall": {"name": "bash", "args": {}}}
        result = {"functionResponse": {"name": "bash", "response": {"output": text}}}
        return [{"role": "model", "parts": [call]}, {"role": "user", "parts": [result]}]

    words = {"role": "user", "parts": [{"text": "do T-7"}]}
    news = {"role": "user", "parts": [{"text": BACK}]}
    contents = [words, *used("task is open"), *used("ok"), news, *used("ok")]
    body = {"contents": contents, "tools": [{"functionDeclarations": [{"name": "bash"}]}]}
    return Gemini().read(json.dumps(body).encode(), "/v1/models/m:generateContent")


@pytest.mark.parametrize("asked", [claude, codex, chat, gemini])
def test_steps_are_counted_from_the_newest_words_and_the_earlier_ones_are_seen(asked: Any) -> None:
    move = play(asked(), SCENARIO)
    assert (move.conversation, move.mismatch) == ("feedback", None)
    (call,) = move.answer.calls
    assert '"second"' in json.dumps(call.arguments)


def test_without_the_earlier_conversation_another_is_played() -> None:
    body = {"model": "m", "input": BACK, "tools": []}
    request = OpenAIResponses().read(json.dumps(body).encode(), "/v1/responses")
    assert play(request, SCENARIO).answer.text == "I know nothing of it."


def test_a_shortened_conversation_has_its_summary_apart_from_what_was_said_beside_it() -> None:
    """Claude Code puts all into one message; Codex keeps what the user said before its summary."""
    told = 'scripted model: so far {"conversation": "work", "done": 1, "names": {}}'
    wrapped = _text(f"This session is being continued.\n{told}\n\nPick up the last task.")
    claude_body = {"model": "m", "messages": [{"role": "user", "content": [wrapped, _text(BACK)]}]}
    codex_body = {
        "model": "m",
        "input": [_item("user", "do T-7"), _item("user", told), _item("user", BACK)],
    }
    by_claude = Anthropic().read(json.dumps(claude_body).encode(), "/v1/messages")
    by_codex = OpenAIResponses().read(json.dumps(codex_body).encode(), "/v1/responses")
    assert [bool(prompt.so_far) for prompt in by_claude.prompts] == [True, False]
    assert [bool(prompt.so_far) for prompt in by_codex.prompts] == [False, True, False]
    assert by_claude.prompts[-1].text == by_codex.prompts[-1].text == BACK


def test_a_turn_says_which_one_it_is_when_what_was_before_it_was_left_out() -> None:
    """The native loop keeps what people said and the newest turns, and puts a summary between them."""
    first = {"role": "user", "content": "do T-7"}
    tools = [{"name": "bash"}]

    def asked(*messages: Any) -> Request:
        body = {"model": "m", "messages": [first, *messages], "tools": tools}
        return Anthropic().read(json.dumps(body).encode(), "/v1/messages")

    begun = _as_asked(asked())
    second = _as_asked(asked(*begun))
    summary = {"role": "user", "content": "[The conversation became long.]\n\nI looked."}
    assert play(asked(summary, *second), SCENARIO).answer.text == "Done."
    assert play(asked(summary, *begun), SCENARIO).answer.calls[0].arguments == {
        "command": "hand in"
    }


def _as_asked(request: Request) -> list[Any]:
    """The answer to a request and its result, as they come with the next one."""
    answer = play(request, SCENARIO).answer
    content = Anthropic().whole(answer, request)["content"]
    used = [_used(block["id"], "ok") for block in content if block["type"] == "tool_use"]
    return [{"role": "assistant", "content": content}, {"role": "user", "content": used}]
