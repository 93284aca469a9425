"""The conversation stays short, and stays one that a provider accepts."""

from native import context
from native.conversation import Call, Message, Prompt, Reply, Result, Results, size


def conversation(turns: int, result_chars: int) -> list[Message]:
    messages: list[Message] = [Prompt("go")]
    for number in map(str, range(turns)):
        messages += [
            Reply("", (Call(number, "bash", {}),)),
            Results((Result(number, "bash", "x" * result_chars),)),
        ]
    return messages


def results(messages: list[Message]) -> list[Result]:
    return [r for message in messages if isinstance(message, Results) for r in message.results]


def test_nothing_is_aimed_at_below_the_limit() -> None:
    assert context.aim(1000, tokens_now=100, limit_tokens=100) is None


def test_above_the_limit_the_aim_is_well_below_it() -> None:
    assert context.aim(1000, tokens_now=200, limit_tokens=100) == 300


def test_the_oldest_results_give_way_and_pairs_stay() -> None:
    messages = conversation(10, 1000)
    shorter, dropped = context.shorten(messages, 6000)
    assert size(shorter) <= 6000
    texts = [result.text for result in results(shorter)]
    assert texts == [context.DROPPED] * dropped + ["x" * 1000] * (10 - dropped)
    assert 0 < dropped < 10
    assert [result.call for result in results(shorter)] == [str(n) for n in range(10)]


def test_the_last_result_stays_whatever_is_asked() -> None:
    messages = conversation(3, 1000)
    shorter, dropped = context.shorten(messages, 0)
    assert dropped == 2
    assert results(shorter)[-1].text == "x" * 1000
    assert context.shorten(shorter, 0) == (shorter, 0)


def test_short_results_are_not_worth_dropping() -> None:
    messages = conversation(3, 10)
    assert context.shorten(messages, 0) == (messages, 0)
