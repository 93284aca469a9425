"""One conversation over each provider's own SDK: ask, do what is called, ask on, until the last words.

A talker gives the last words, and the usage of every answer as its provider says it: the whole
input, what of it was cached, the whole output, what of it was reasoning.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import anthropic
import httpx2
import openai
from google import genai
from google.genai import types

from tests.component.scripted.workbench import GATEWAY_TOOL, Workbench

type Used = tuple[int, int, int, int]
type Talk = tuple[str, list[Used]]


class Talker(Protocol):
    """Ask the model at `url` to do what `prompt` says at the workbench."""

    async def __call__(self, url: str, prompt: str, bench: Workbench, *, stream: bool) -> Talk: ...


MODEL = "scripted-1"
_SCHEMA: Any = {"type": "object", "properties": {}}


async def over_anthropic(url: str, prompt: str, bench: Workbench, *, stream: bool) -> Talk:
    messages: list[Any] = [{"role": "user", "content": prompt}]
    used: list[Used] = []
    names = list(bench.tools)
    async with anthropic.AsyncAnthropic(base_url=url, api_key="k", max_retries=0) as sdk:
        while True:
            asked: Any = {
                "model": MODEL,
                "max_tokens": 9,
                "system": f"Working directory: {bench.folder}\n",
                "messages": messages,
                "tools": [{"name": name, "input_schema": _SCHEMA} for name in names],
            }
            if stream:
                async with sdk.messages.stream(**asked) as answer:
                    message: Any = await answer.get_final_message()
            else:
                message = await sdk.messages.create(**asked)
            usage = message.usage
            cached = usage.cache_read_input_tokens
            details = usage.output_tokens_details
            used.append(
                (
                    usage.input_tokens + cached + usage.cache_creation_input_tokens,
                    cached,
                    usage.output_tokens,
                    details.thinking_tokens if details else 0,
                )
            )
            calls = [block for block in message.content if block.type == "tool_use"]
            if not calls:
                return message.content[0].text, used
            messages.append({"role": "assistant", "content": message.content})
            results = []
            for call in calls:
                if call.name == "ToolSearch":
                    names.append(GATEWAY_TOOL)
                    text, failed = "found", False
                else:
                    text, failed = bench.do(call.name, call.input)
                result = {"type": "tool_result", "tool_use_id": call.id, "content": text}
                results.append({**result, "is_error": failed})
            messages.append({"role": "user", "content": results})


async def over_responses(url: str, prompt: str, bench: Workbench, *, stream: bool) -> Talk:
    """As Codex does: gateway tools in a namespace, held back; a patch is free text."""
    items: list[Any] = [
        {"type": "message", "role": "developer", "content": "You are careful."},
        {
            "role": "user",
            "content": "<environment_context>\n  <cwd>/w</cwd>\n</environment_context>",
        },
        {"role": "user", "content": [{"type": "input_text", "text": prompt}]},
    ]
    used: list[Used] = []
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0) as sdk:
        while True:
            asked: Any = {
                "model": MODEL,
                "input": items,
                "tools": [*map(_response_tool, bench.tools)],
            }
            if stream:
                async with sdk.responses.stream(**asked, store=False) as answer:
                    response: Any = await answer.get_final_response()
            else:
                response = await sdk.responses.create(**asked, store=False)
            usage = response.usage
            used.append(
                (
                    usage.input_tokens,
                    usage.input_tokens_details.cached_tokens,
                    usage.output_tokens,
                    usage.output_tokens_details.reasoning_tokens,
                )
            )
            given = [json.loads(item.to_json()) for item in response.output]
            calls = [item for item in given if item["type"].endswith("_call")]
            if not calls:
                return response.output_text, used
            items += [_as_sent(item) for item in given]
            items += [_response_output(call, bench) for call in calls]


def _as_sent(item: Mapping[str, Any]) -> Mapping[str, Any]:
    return {key: value for key, value in item.items() if key != "parsed_arguments"}


def _response_tool(name: str) -> Mapping[str, Any]:
    match name:
        case "apply_patch":
            return {"type": "custom", "name": name}
        case "tool_search":
            return {"type": "tool_search", "execution": "client"}
        case _:
            return {"type": "function", "name": name, "parameters": _SCHEMA, "strict": False}


def _response_output(call: Mapping[str, Any], bench: Workbench) -> Mapping[str, Any]:
    came: dict[str, Any] = {"type": f"{call['type']}_output", "call_id": call["call_id"]}
    if call["type"] == "tool_search_call":
        inner = {"type": "function", "name": "get_task", "parameters": _SCHEMA}
        namespace = {"type": "namespace", "name": "mcp__sandgate", "tools": [inner]}
        found = {"status": "completed", "execution": "client", "tools": [namespace]}
        return {**came, "type": "tool_search_output", **found}
    if call["type"] == "custom_tool_call":
        return {**came, "output": bench.do(call["name"], call["input"])[0]}
    name = "__".join(filter(None, [call.get("namespace"), call["name"]]))
    text = bench.do(name, json.loads(call["arguments"]))[0]
    if call.get("namespace"):
        head = {"type": "input_text", "text": "Wall time: 0.0124 seconds\nOutput:"}
        return {**came, "output": [head, {"type": "input_text", "text": text}]}
    return {**came, "output": text}


async def over_chat(url: str, prompt: str, bench: Workbench, *, stream: bool) -> Talk:
    messages: list[Any] = [{"role": "system", "content": "s"}, {"role": "user", "content": prompt}]
    declared: Any = [
        {"type": "function", "function": {"name": name, "parameters": _SCHEMA}}
        for name in bench.tools
    ]
    used: list[Used] = []
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0) as sdk:
        while True:
            asked: Any = {"model": MODEL, "messages": messages, "tools": declared}
            if stream:
                options: Any = {"include_usage": True}
                async with sdk.chat.completions.stream(**asked, stream_options=options) as answer:
                    completion: Any = await answer.get_final_completion()
            else:
                completion = await sdk.chat.completions.create(**asked)
            usage, message = completion.usage, completion.choices[0].message
            used.append(
                (
                    usage.prompt_tokens,
                    usage.prompt_tokens_details.cached_tokens,
                    usage.completion_tokens,
                    usage.completion_tokens_details.reasoning_tokens,
                )
            )
            if not message.tool_calls:
                return message.content, used
            sent = json.loads(message.to_json())
            messages.append({key: sent.get(key) for key in ("role", "content", "tool_calls")})
            for call in message.tool_calls:
                text, _ = bench.do(call.function.name, json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": text})


async def over_gemini(url: str, prompt: str, bench: Workbench, *, stream: bool) -> Talk:
    contents: list[Any] = [types.Content(role="user", parts=[types.Part(text=prompt)])]
    functions = [types.FunctionDeclaration(name=name) for name in bench.tools]
    config = types.GenerateContentConfig(
        tools=[types.Tool(function_declarations=functions)],
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    version = "v1beta" if stream else None
    http = httpx2.AsyncClient()  # else it takes aiohttp, in a way that aiohttp warns of
    options = types.HttpOptions(base_url=url, api_version=version, httpx_async_client=http)
    client = genai.Client(api_key="k", vertexai=False, http_options=options)
    used: list[Used] = []
    async with http, client.aio as sdk:
        while True:
            asked: Any = {"model": MODEL, "contents": contents, "config": config}
            if stream:
                chunks = [
                    chunk async for chunk in await sdk.models.generate_content_stream(**asked)
                ]
            else:
                chunks = [await sdk.models.generate_content(**asked)]
            parts = [part for chunk in chunks for part in _parts(chunk)]
            used.append(_gemini_usage(chunks[-1].usage_metadata))
            calls = [part.function_call for part in parts if part.function_call]
            if not calls:
                return "".join(part.text or "" for part in parts), used
            contents.append(types.Content(role="model", parts=parts))
            contents.append(types.Content(role="user", parts=[*_responses(calls, bench)]))


def _parts(chunk: types.GenerateContentResponse) -> list[types.Part]:
    content = chunk.candidates[0].content if chunk.candidates else None
    return (content.parts if content else None) or []


def _gemini_usage(usage: Any) -> Used:
    thought = usage.thoughts_token_count or 0
    return (
        usage.prompt_token_count,
        usage.cached_content_token_count or 0,
        usage.candidates_token_count + thought,
        thought,
    )


def _responses(calls: Iterable[Any], bench: Workbench) -> Iterable[types.Part]:
    for call in calls:
        text, failed = bench.do(call.name, call.args)
        told = {"error" if failed else "output": text}
        response = types.FunctionResponse(name=call.name, id=call.id, response=told)
        yield types.Part(function_response=response)
