"""OpenAI Responses, as Codex speaks it: gateway tools in a namespace, held back; a patch is free text."""

import json
from collections.abc import Mapping
from typing import Any

import openai

from tests.component.scripted.talkers import MODEL, SCHEMA, Talk, Used
from tests.component.scripted.workbench import Workbench


async def talk(url: str, prompt: str, bench: Workbench, *, stream: bool) -> Talk:
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
            return {"type": "function", "name": name, "parameters": SCHEMA, "strict": False}


def _response_output(call: Mapping[str, Any], bench: Workbench) -> Mapping[str, Any]:
    came: dict[str, Any] = {"type": f"{call['type']}_output", "call_id": call["call_id"]}
    if call["type"] == "tool_search_call":
        inner = {"type": "function", "name": "get_task", "parameters": SCHEMA}
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
