"""The conversation stays short, and stays one that a provider accepts."""

import pytest
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


def put_aside(result: Result) -> str:
    return f"[see {result.call}]"


@pytest.mark.parametrize(("tokens", "wanted"), [(750, None), (751, 665), (1500, 333)])
def test_from_three_quarters_of_the_window_on_half_of_it_is_aimed_at(
    tokens: int, wanted: int | None
) -> None:
    assert context.aim(1000, tokens_now=tokens, window_tokens=1000) == wanted


def test_the_oldest_results_give_way_and_pairs_stay() -> None:
    messages = conversation(10, 1000)
    shorter, count = context.with_results_put_aside(messages, 6000, put_aside)
    assert size(shorter) <= 6000
    assert 0 < count < 10
    texts = [result.text for result in results(shorter)]
    assert texts == [f"[see {n}]" for n in range(count)] + ["x" * 1000] * (10 - count)
    assert [result.call for result in results(shorter)] == [str(n) for n in range(10)]


def test_the_last_result_stays_whatever_is_asked() -> None:
    messages = conversation(3, 1000)
    shorter, count = context.with_results_put_aside(messages, 0, put_aside)
    assert count == 2
    assert results(shorter)[-1].text == "x" * 1000
    assert context.with_results_put_aside(shorter, 0, put_aside) == (shorter, 0)


def test_short_results_are_not_worth_it() -> None:
    messages = conversation(3, 10)
    assert context.with_results_put_aside(messages, 0, put_aside) == (messages, 0)


@pytest.mark.parametrize(("characters", "turns"), [(0, 1), (3000, 2), (4000, 3), (100_000, 5)])
def test_the_newest_turns_are_whole_and_one_stays_in_any_case(characters: int, turns: int) -> None:
    messages = conversation(5, 1000)
    older, newest = context.split(messages, characters)
    assert [*older, *newest] == messages
    assert len(newest) == 2 * turns
    assert isinstance(newest[0], Reply)


def test_a_turn_that_was_not_answered_yet_belongs_to_the_one_before() -> None:
    again = Prompt("again")
    older, newest = context.split([*conversation(2, 10), again], 0)
    assert (len(older), newest[-1]) == (3, again)
    assert context.split([Prompt("go")], 0) == ((), [Prompt("go")])


def test_what_a_person_said_stays_word_by_word() -> None:
    older: list[Message] = [
        Prompt("task"),
        Prompt("summary one", "summary"),
        Reply("hm"),
        Prompt("cut, go on", "loop"),
        Prompt("sent back"),
    ]
    shorter = context.with_summary(older, " two ", [Reply("new")])
    assert shorter[:2] == [Prompt("task"), Prompt("sent back")]
    summary = shorter[2]
    assert isinstance(summary, Prompt)
    assert (summary.origin, summary.text.endswith("\n\ntwo")) == ("summary", True)
    assert shorter[3:] == [Reply("new")]


def test_the_record_holds_an_earlier_summary_and_is_bounded() -> None:
    older = [Prompt("task"), Prompt("summary one", "summary"), *conversation(50, 5000)]
    asked = context.summary_asked(older, 20_000).text
    assert "task" in asked
    assert "summary one" in asked
    assert "You called bash: {}" in asked
    assert len(asked) < 21_000


def test_no_summary_is_said() -> None:
    (said,) = context.with_summary([], " ", [])
    assert isinstance(said, Prompt)
    assert "There is no summary" in said.text
