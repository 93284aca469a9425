"""The conversation stays short, and stays one that a provider accepts."""

from typing import Any

from native import context


def conversation(turns: int, result_chars: int) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": [{"type": "text", "text": "go"}]}]
    for number in range(turns):
        use = {"type": "tool_use", "id": str(number), "name": "bash", "input": {}}
        result = {"type": "tool_result", "tool_use_id": str(number), "content": "x" * result_chars}
        messages += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    return messages


def results(messages: list[dict[str, Any]]) -> list[str]:
    return [b["content"] for m in messages for b in m["content"] if b["type"] == "tool_result"]


def ids(messages: list[dict[str, Any]], kind: str, key: str) -> list[str]:
    return [b[key] for m in messages for b in m["content"] if b["type"] == kind]


def test_nothing_is_aimed_at_below_the_limit() -> None:
    assert context.aim(1000, tokens_now=100, limit_tokens=100) is None


def test_above_the_limit_the_aim_is_well_below_it() -> None:
    assert context.aim(1000, tokens_now=200, limit_tokens=100) == 300


def test_the_oldest_results_give_way_and_pairs_stay() -> None:
    messages = conversation(10, 1000)
    dropped = context.shorten(messages, 6000)
    assert context.size(messages) <= 6000
    assert results(messages) == [context.DROPPED] * dropped + ["x" * 1000] * (10 - dropped)
    assert 0 < dropped < 10
    assert ids(messages, "tool_use", "id") == ids(messages, "tool_result", "tool_use_id")


def test_the_last_result_stays_whatever_is_asked() -> None:
    messages = conversation(3, 1000)
    assert context.shorten(messages, 0) == 2
    assert results(messages)[-1] == "x" * 1000
    assert context.shorten(messages, 0) == 0


def test_short_results_are_not_worth_dropping() -> None:
    messages = conversation(3, 10)
    assert context.shorten(messages, 0) == 0
