"""`sandgate models`: what is known of models, from the runner to the terminal."""

from dataclasses import replace

import pytest

from tests.fakes.world import ENGAGEMENT
from tests.servers.api import PROVIDERS, Api
from tests.servers.command import sandgate_beside

SONNET = "anthropic:claude-sonnet-5"


def grant(api: Api, *models: str) -> None:
    grants = replace(ENGAGEMENT.grants, models=frozenset(models))
    api.fakes.tracker.hired[ENGAGEMENT.id] = replace(ENGAGEMENT, grants=grants)


async def test_prices_are_told_for_a_million_tokens(api: Api) -> None:
    grant(api)
    done = await sandgate_beside("models", "claude-sonnet-5-5")
    head, row = done.out.splitlines()
    assert head.split() == [
        "model", "input", "cached", "output", "dialect", "here", "granted", "to",
    ]  # fmt: skip
    assert row.split() == [
        "anthropic:claude-sonnet-5-5",
        "2",
        "0.1",
        "10",
        "anthropic",
        "no",
        "key",
    ]


@pytest.mark.usefixtures("api")
async def test_what_longer_prompts_cost_has_a_row_of_its_own() -> None:
    done = await sandgate_beside("models", "claude-haiku-5-5")
    _, base, longer = done.out.splitlines()
    assert base.split()[:4] == ["anthropic:claude-haiku-5-5", "0.1", "0.01", "0.5"]
    assert longer.split() == ["prompts", "above", "100,000", "0.5", "0.05", "2.5"]


async def test_who_may_call_it_and_whether_it_can_be_called_is_told(api: Api) -> None:
    grant(api, SONNET, "house:own")
    done = await sandgate_beside("models", "--granted")
    _, sonnet, own, note = done.out.splitlines()
    assert sonnet.endswith("no key      bot-rex (DEMO)")
    assert own.split() == [
        "house:own", "no", "price", "anthropic", "no", "address", "bot-rex", "(DEMO)",
    ]  # fmt: skip
    assert note.startswith(f"granted, but not called here yet: {SONNET}, house:own")
    body = {"value": "sk-ant-of-the-tests", "hosts": ["api.anthropic.com"], "kind": "anthropic"}
    await api.ask("PUT", f"/api/secrets/{PROVIDERS['anthropic'].secret}", body)
    done = await sandgate_beside("models", SONNET, "--granted", "--json")
    assert done.json == [
        {
            "model": SONNET,
            "provider": "anthropic",
            "dialect": "anthropic",
            "missing": "",
            "rates": [
                {
                    "above_prompt_tokens": 0,
                    "input": "2",
                    "cache_read": "0.2",
                    "cache_write": "2.5",
                    "output": "10",
                }
            ],
            "as_of": "2026-11-01",
            "granted": [{"engagement": "DEMO/DEMO-1", "project": "DEMO", "agent": "bot-rex"}],
            "callable": True,
        }
    ]


@pytest.mark.usefixtures("api")
async def test_nothing_fits_is_an_empty_list() -> None:
    done = await sandgate_beside("models", "nothing-like-it", "--json")
    assert (done.code, done.json) == (0, [])
