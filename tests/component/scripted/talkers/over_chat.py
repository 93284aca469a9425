"""OpenAI Chat Completions."""

import json
from typing import Any

import openai

from tests.component.scripted.talkers import MODEL, SCHEMA, Talk, Used
from tests.component.scripted.workbench import Workbench


async def talk(url: str, prompt: str, bench: Workbench, *, stream: bool) -> Talk:
    messages: list[Any] = [{"role": "system", "content": "s"}, {"role": "user", "content": prompt}]
    declared: Any = [
        {"type": "function", "function": {"name": name, "parameters": SCHEMA}}
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
