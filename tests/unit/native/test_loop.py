"""The turns, with a model that is told what to answer."""

import io
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest
from native import circles, context
from native.events import emitter
from native.loop import Ending, Limits, Loop
from native.mcp import Gateway
from native.model import Answer, Usage
from native.output import Outcome, Spill
from native.patience import Trouble, of_status
from native.toolbox import PREFIX, Tool, Toolbox


def says(text: str = "hm", stop: str = "end_turn", tokens: int = 10) -> Answer:
    return Answer([{"type": "text", "text": text}], stop, Usage(tokens, 1, 0, 0))


def calls(*names: str, stop: str = "tool_use", tokens: int = 10, **given: Any) -> Answer:
    blocks = [
        {"type": "tool_use", "id": f"t{n}", "name": name, "input": given}
        for n, name in enumerate(names)
    ]
    return Answer(blocks, stop, Usage(tokens, 1, 0, 0))


class Told:
    """Answers what it is told, and keeps what it was asked; a Trouble is raised."""

    def __init__(self, *answers: Answer | Trouble) -> None:
        self._answers: Iterator[Answer | Trouble] = iter(answers)
        self.asked: list[list[dict[str, Any]]] = []

    def ask(
        self, system: str, messages: list[dict[str, Any]], tools: list[dict[str, Any]]
    ) -> Answer:
        del system, tools
        self.asked.append([{**message} for message in messages])
        answer = next(self._answers)
        if isinstance(answer, Trouble):
            raise answer
        return answer


def no_gateway(emit: Any) -> Gateway:
    return Gateway("http://door.invalid/mcp", httpx2.Client(), emit, Spill())


def run(
    model: Told,
    *,
    max_turns: int = 20,
    context_tokens: int = 1000,
    bash: Callable[[Any], Outcome] | None = None,
) -> Ending:
    emit = emitter(io.BytesIO())
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    gateway_tools = ["submit_for_approval", "ask_questions", "delegate"]
    tools = [
        Tool("bash", "", schema, bash or (lambda _: Outcome("ok"))),
        Tool("broken", "", schema, lambda _: Outcome("no", is_error=True)),
        *(
            Tool(f"{PREFIX}{name}", "", {}, lambda _: Outcome("handed in"), own=False)
            for name in gateway_tools
        ),
    ]
    toolbox = Toolbox(tools, no_gateway(emit), emit)
    limits = Limits(max_turns, context_tokens)
    return Loop(model, toolbox, emit=emit, limits=limits, system="s", prompt="go").run()


def keeping(done: list[Any]) -> Callable[[Any], Outcome]:
    def bash(given: Any) -> Outcome:
        done.append(given)
        return Outcome("ok")

    return bash


def last_results(model: Told) -> list[dict[str, Any]]:
    return [block for block in model.asked[-1][-1]["content"] if block["type"] == "tool_result"]


@pytest.mark.parametrize(
    ("tool", "reason"),
    [("submit_for_approval", "submitted"), ("ask_questions", "asked"), ("delegate", "delegated")],
)
def test_handing_in_ends_the_run(tool: str, reason: str) -> None:
    assert run(Told(calls("bash"), calls(f"{PREFIX}{tool}"))) == Ending(reason, "handed in")


def test_nothing_runs_after_the_run_was_ended() -> None:
    done: list[Any] = []
    model = Told(calls(f"{PREFIX}submit_for_approval", "bash"))
    assert run(model, bash=keeping(done)).reason == "submitted"
    assert done == []


def test_words_without_a_call_complete_the_run() -> None:
    assert run(Told(calls("bash"), says("All done."))) == Ending("completed", "All done.")


def test_an_answer_cut_at_its_limit_goes_on() -> None:
    model = Told(says("I beg", "max_tokens"), says("in."))
    assert run(model).reason == "completed"
    assert "Go on" in model.asked[-1][-1]["content"][0]["text"]


def test_a_call_cut_at_the_limit_is_not_run() -> None:
    done: list[Any] = []
    model = Told(calls("bash", "bash", stop="max_tokens"), says())
    run(model, bash=keeping(done))
    assert len(done) == 1
    assert [result["is_error"] for result in last_results(model)] == [False, True]


def test_a_refusal_is_an_error() -> None:
    assert run(Told(says("I won't", "refusal"))) == Ending(
        "error", "the model refused to go on: I won't"
    )


def test_403_ends_the_run_at_once_with_its_message() -> None:
    """CASE-101: one request, then the end."""
    model = Told(of_status(403, "over budget", None))
    assert run(model) == Ending("error", "403: over budget")
    assert len(model.asked) == 1


def test_too_many_turns_end_the_run() -> None:
    model = Told(*[calls("bash", n=n) for n in range(9)])
    assert run(model, max_turns=3).reason == "max_turns"


def test_going_round_in_circles_ends_the_run_after_a_warning() -> None:
    model = Told(*[calls("bash", n=1) for _ in range(20)])
    assert run(model) == Ending("loop", "bash came 6 times with the same result")
    assert len(model.asked) == circles.STOP_AT
    assert "3 times now" in model.asked[3][-1]["content"][0]["content"]


def test_an_unknown_tool_and_a_wrong_input_are_answered() -> None:
    model = Told(calls("nonsense", "bash", "broken", wrong=1), says())
    assert run(model).reason == "completed"
    texts = [result["content"] for result in last_results(model)]
    assert texts[0].startswith("No tool 'nonsense': there are bash")
    assert texts[1] == "bash: there is no parameter 'wrong'; there are n"
    assert all(result["is_error"] for result in last_results(model))


def test_every_call_has_its_result_in_order() -> None:
    model = Told(calls("bash", "broken", "bash"), says())
    run(model)
    assert [result["tool_use_id"] for result in last_results(model)] == ["t0", "t1", "t2"]


def test_a_long_conversation_loses_its_oldest_results() -> None:
    big = [calls("bash", n=n, tokens=100 + 100 * n) for n in range(9)]
    model = Told(*big, says())
    assert run(model, context_tokens=500, bash=lambda _: Outcome("x" * 1000)).reason == "completed"
    first = model.asked[-1][2]["content"][0]
    assert first["content"] == context.DROPPED
    assert last_results(model)[0]["content"].startswith("xxx")


def test_a_prompt_that_is_too_long_is_shortened_once() -> None:
    too_long = of_status(400, "prompt is too long: 210000 tokens > 200000 maximum", None)
    results = [calls("bash", n=n) for n in range(6)]
    model = Told(*results, too_long, says())
    assert run(model, bash=lambda _: Outcome("x" * 1000)).reason == "completed"


def test_a_prompt_that_stays_too_long_ends_the_run() -> None:
    too_long = of_status(413, "request too large", None)
    assert run(Told(too_long)).reason == "context"
