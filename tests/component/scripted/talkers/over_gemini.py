"""Gemini generateContent: v1 whole, v1beta streamed."""

from collections.abc import Iterable
from typing import Any

import httpx2
from google import genai
from google.genai import types

from tests.component.scripted.talkers import MODEL, Talk, Used
from tests.component.scripted.workbench import Workbench


async def talk(url: str, prompt: str, bench: Workbench, *, stream: bool) -> Talk:
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
