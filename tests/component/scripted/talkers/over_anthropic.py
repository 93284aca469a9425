"""Anthropic Messages; gateway tools may be held back, as Claude Code does."""

from typing import Any

import anthropic

from tests.component.scripted.talkers import MODEL, SCHEMA, Talk, Used
from tests.component.scripted.workbench import GATEWAY_TOOL, Workbench


async def talk(url: str, prompt: str, bench: Workbench, *, stream: bool) -> Talk:
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
                "tools": [{"name": name, "input_schema": SCHEMA} for name in names],
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
