"""The scripted model as a real server, asked by the provider's own SDK."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from tests.component.scripted.serving import served

TOOLS: Any = [
    {"name": name, "input_schema": {"type": "object"}} for name in ("bash", "read", "write", "edit")
]
START: Any = {"role": "user", "content": "go"}

SCENARIO = """
scenario: 1
conversations:
  - name: a
    steps:
      - say: I look.
        shell: echo hi
        expect: hi
      - say: All is well.
"""


@asynccontextmanager
async def client(
    base_url: str, key: str = "k", retries: int = 0
) -> AsyncIterator[Callable[..., Any]]:
    async with anthropic.AsyncAnthropic(base_url=base_url, api_key=key, max_retries=retries) as sdk:

        async def ask(*messages: Any, stream: bool = False) -> anthropic.types.Message:
            asked: Any = {
                "model": "m",
                "max_tokens": 100,
                "messages": [START, *messages],
                "tools": TOOLS,
            }
            if not stream:
                whole: anthropic.types.Message = await sdk.messages.create(**asked)
                return whole
            async with sdk.messages.stream(**asked) as answer:
                return await answer.get_final_message()

        yield ask


def with_result(message: anthropic.types.Message, text: str) -> list[Any]:
    call = next(block for block in message.content if block.type == "tool_use")
    result = {"type": "tool_result", "tool_use_id": call.id, "content": text}
    return [
        {"role": "assistant", "content": message.content},
        {"role": "user", "content": [result]},
    ]


async def test_a_tools_name_that_providers_do_not_take_is_refused() -> None:
    tools: Any = [{"name": "x" * 65, "input_schema": {"type": "object"}}]
    async with served(SCENARIO) as url, anthropic.AsyncAnthropic(base_url=url, api_key="k") as sdk:
        with pytest.raises(anthropic.BadRequestError, match="1 to 64"):
            await sdk.messages.create(model="m", max_tokens=9, messages=[START], tools=tools)


@pytest.mark.parametrize("stream", [False, True])
async def test_the_sdk_is_led_through_a_conversation(stream: bool) -> None:  # noqa: FBT001 - a table
    """CASE-103: both ways of asking are answered, with the same."""
    async with served(SCENARIO) as url, client(url) as ask:
        first = await ask(stream=stream)
        assert [block.type for block in first.content] == ["text", "tool_use"]
        assert first.stop_reason == "tool_use"
        assert first.content[1].input == {"command": "echo hi"}
        assert first.usage.input_tokens > 0
        assert first.usage.output_tokens > 0
        last = await ask(*with_result(first, "hi"), stream=stream)
        assert (last.content[0].text, last.stop_reason) == ("All is well.", "end_turn")
        wrong = await ask(*with_result(first, "ho"), stream=stream)
        assert wrong.content[0].text.startswith(
            "scripted model: conversation a, step 1 (shell, line 6): expected"
        )


async def test_streamed_and_whole_answers_are_the_same() -> None:
    async with served(SCENARIO) as url, client(url) as ask:
        streamed, whole = await ask(stream=True), await ask()
        assert streamed.content[0].text == whole.content[0].text
        assert streamed.content[1].model_dump() == whole.content[1].model_dump()
        assert streamed.usage.output_tokens == whole.usage.output_tokens


async def test_only_the_given_key_opens() -> None:
    async with served(SCENARIO, api_key="real") as url:
        async with client(url, "real") as ask:
            assert (await ask()).stop_reason == "tool_use"
        async with client(url, "sgr_run") as ask:
            with pytest.raises(anthropic.AuthenticationError, match="the key is not the one"):
                await ask()


async def test_a_failure_with_times_is_over_when_it_was_retried_often_enough() -> None:
    steps = "[{fail: 429, times: 2, retry_after_s: 0.01}, {fail: 529, times: 1}, {say: at last}]"
    text = f"scenario: 1\nconversations: [{{name: a, steps: {steps}}}]"
    async with served(text) as url:
        async with client(url) as ask:
            with pytest.raises(anthropic.RateLimitError) as caught:
                await ask()
            assert caught.value.response.headers["retry-after"] == "0.01"
        async with client(url, retries=2) as ask:
            assert (await ask()).content[0].text == "at last"


async def test_a_failure_without_times_stays() -> None:
    text = "scenario: 1\nconversations: [{name: a, steps: [{fail: 403, message: over budget}]}]"
    async with served(text) as url, client(url) as ask:
        for _ in range(2):
            with pytest.raises(anthropic.PermissionDeniedError, match="over budget"):
                await ask()


async def test_tokens_are_counted_on_request() -> None:
    async with served(SCENARIO) as url, anthropic.AsyncAnthropic(base_url=url, api_key="k") as sdk:
        counted = await sdk.messages.count_tokens(model="m", messages=[START])
        assert counted.input_tokens > 0
        async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="k") as other:
            assert (await other.responses.input_tokens.count(model="m", input="go")).input_tokens
        async with httpx2.AsyncClient(base_url=url) as plain:
            asked = {"contents": [{"role": "user", "parts": [{"text": "go"}]}]}
            told = await plain.post("/v1beta/models/m:countTokens", json=asked)
            assert told.json()["totalTokens"] > 0


async def test_what_is_no_request_is_refused_in_the_dialects_words() -> None:
    async with served(SCENARIO) as url, httpx2.AsyncClient(base_url=url) as plain:
        stream = await plain.post("/v1/models/m:streamGenerateContent", json={"contents": []})
        assert (stream.status_code, stream.json()["error"]["status"]) == (400, "INVALID_ARGUMENT")
        assert "alt=sse" in stream.json()["error"]["message"]
        kept = {"model": "m", "input": "go", "previous_response_id": "resp_1"}
        refused = await plain.post("/v1/responses", json=kept)
        assert "send the whole input" in refused.json()["error"]["message"]


async def test_the_program_serves_until_it_is_told_to_stop(tmp_path: Path) -> None:
    script, key = tmp_path / "s.yaml", tmp_path / "key"
    script.write_text(SCENARIO)
    key.write_text("real\n")
    command = [
        sys.executable,
        "-m",
        "orchestrator.stack.scripted",
        "--script",
        str(script),
        "--port",
        "0",
    ]
    process = await asyncio.create_subprocess_exec(
        *command,
        "--api-key-file",
        str(key),
        stdout=asyncio.subprocess.PIPE,
        cwd=Path(__file__).parents[3],
    )
    try:
        assert process.stdout is not None
        line = (await asyncio.wait_for(process.stdout.readline(), 30)).decode()
        async with client(line.split()[-1], "real") as ask:
            assert (await ask()).stop_reason == "tool_use"
        process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.wait(), 20) == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def test_the_program_says_what_is_wrong_with_a_file(tmp_path: Path) -> None:
    script = tmp_path / "s.yaml"
    script.write_text("scenario: 1\nconversations: [{name: a, steps: [{shel: ls}]}]")
    process = await asyncio.create_subprocess_exec(
        *[
            sys.executable,
            "-m",
            "orchestrator.stack.scripted",
            "--script",
            str(script),
            "--port",
            "0",
        ],
        stderr=asyncio.subprocess.PIPE,
        cwd=Path(__file__).parents[3],
    )
    _, errors = await asyncio.wait_for(process.communicate(), 30)
    assert process.returncode == 2
    assert (
        b"s.yaml, line 2, conversation 1, step 1, shel: is not a key that this place knows"
        in errors
    )
