"""What the door meters is what the scripted model says it served, to the token, whatever goes wrong."""

from pathlib import Path

import httpx2
import pytest

from entrance.ports import Usage
from tests.component.scripted.asking import questions
from tests.component.scripted.serving import served
from tests.servers import google, openai
from tests.servers.anthropic import KEY, MODEL, ModelServer
from tests.servers.door import RUN, open_door
from tests.waiting import until

AT = {
    "anthropic": ("anthropic", MODEL),
    "responses": ("openai", openai.MODEL),
    "chat": ("openai", openai.MODEL),
    "gemini": ("google", google.MODEL),
}
"""Each dialect's provider at the door, and a model that has a price."""

GIVEN = (
    "usage: {input_tokens: 10, output_tokens: 70, cache_read_tokens: 500, cache_write_tokens: 30,"
    " reasoning_tokens: 20}"
)
FAULTS = {
    "none": f"{{say: one two three, {GIVEN}}}",
    "a call": "{shell: echo hello, say: I look.}",
    "429": "{fail: 429, retry_after_s: 1}",
    "529": "{fail: 529}",
    "too long": "{fail: overflow}",
    "cut": "{fail: cut}",
    "stall": "{fail: stall, stall_s: 0.2}",
    "garbage": "{fail: garbage}",
    "empty": "{fail: empty}",
    "slow": "{say: one two, stream_s: 0.2}",
    "huge": "{say: much, padding: 100000}",
}
WORDS = "{say: Ünd so weiter und so fort.}"


@pytest.mark.parametrize("dialect", AT)
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("fault", FAULTS)
async def test_the_door_meters_what_was_served(
    fault: str,
    stream: bool,  # noqa: FBT001 - a table
    dialect: str,
    tmp_path: Path,
) -> None:
    provider, name = AT[dialect]
    path, body = questions(name)[dialect].asked(stream=stream)
    scenario = f"scenario: 1\nconversations: [{{name: a, steps: [{FAULTS[fault]}, {WORDS}]}}]"
    async with (
        served(scenario, KEY) as url,
        open_door(tmp_path, ModelServer(url)) as door,
        httpx2.AsyncClient(timeout=20) as client,
    ):
        asked = f"{door.url}/model/{provider}{path}"
        await client.post(asked, json=body, headers=door.bearer)
        await until(lambda: bool(door.lines("outcome")))  # a stream is settled after its end
        answer = await client.get(f"{url}/served", headers={"x-api-key": KEY})
        usage = door.meter.usage.get(RUN, Usage())
    total = answer.json()["total"]
    for kind in ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"):
        assert getattr(usage, kind) == total[kind], kind
    assert usage.calls == (fault not in {"429", "529", "too long"})
