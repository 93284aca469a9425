"""The model gateway in front of the scripted model: what it metered is what was served, to the token."""

from pathlib import Path

import pytest
from aiohttp import ClientSession

from tests.component.scripted.asking import QUESTIONS
from tests.component.scripted.serving import served
from tests.servers.anthropic import KEY, ModelServer
from tests.servers.door import RUN, open_door
from tests.waiting import until

PROVIDERS = {"anthropic": "anthropic", "responses": "openai", "chat": "openai", "gemini": "google"}
SCENARIO = """
scenario: 1
conversations:
  - name: a
    steps:
      - {say: "one two three", usage: {input_tokens: 110, output_tokens: 37, cache_read_tokens: 51,
         cache_write_tokens: 13, reasoning_tokens: 29}}
"""


@pytest.mark.parametrize("dialect", PROVIDERS)
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
async def test_both_count_the_same(
    tmp_path: Path, http: ClientSession, dialect: str, *, stream: bool
) -> None:
    path, body = QUESTIONS[dialect].asked(stream=stream)
    provider = PROVIDERS[dialect]
    async with served(SCENARIO, KEY) as url, open_door(tmp_path, ModelServer(url)) as door:
        door.reopen(models=frozenset({f"{provider}:m"}), unpriced_models=True)
        for _ in range(2):
            asked = f"{door.url}/model/{provider}{path}"
            async with http.post(asked, json=body, headers=door.bearer) as answer:
                assert answer.status == 200
                assert "three" in await answer.text()
        await until(lambda: len(door.lines("outcome")) == 2)
        async with http.get(f"{url}/served", headers={"x-api-key": KEY}) as said:
            total = (await said.json())["total"]
        usage = door.meter.usage[RUN]
        assert not any(line["detail"]["estimated"] for line in door.lines("outcome"))
    assert usage.output_tokens == total["output_tokens"] == 74
    assert usage.input_tokens == total["input_tokens"]
    assert usage.cache_read_tokens == total["cache_read_tokens"] == 102
    assert usage.cache_write_tokens == total["cache_write_tokens"]
    assert usage.calls == total["answers"] == 2
