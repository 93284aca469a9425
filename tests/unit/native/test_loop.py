"""The turns, with a model that is told what to answer."""

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
from native import circles
from native.asking import Asking
from native.compaction import Compaction
from native.conversation import Call, Message, Prompt, Reply, Result, Results
from native.dialects import Answer, Declared, Stop, Usage
from native.events import emitter
from native.kept import Kept
from native.loop import Ending, Limits, Loop
from native.mcp import Gateway
from native.output import Outcome, Spill
from native.patience import Trouble, of_status
from native.toolbox import PREFIX, Tool, Toolbox

NOWHERE = Path("/proc/nothing-can-be-kept-here")


def says(text: str = "hm", stop: Stop = "done", tokens: int = 10) -> Answer:
    return Answer(Reply(text), stop, Usage(tokens, 1, 0, 0), reason=f"told to be {stop}")


def calls(*names: str, stop: Stop = "done", tokens: int = 10, **given: Any) -> Answer:
    called = tuple(Call(f"t{n}", name, given) for n, name in enumerate(names))
    return Answer(Reply("", called), stop, Usage(tokens, 1, 0, 0))


def said(text: str, answer: Answer) -> Answer:
    """The same with words before its calls."""
    return replace(answer, reply=replace(answer.reply, text=text))


class Told:
    """Answers what it is told, and keeps what it was asked; a Trouble is raised."""

    def __init__(self, *answers: Answer | Trouble) -> None:
        self._answers: Iterator[Answer | Trouble] = iter(answers)
        self.asked: list[list[Message]] = []

    def ask(self, system: str, messages: Sequence[Message], tools: Sequence[Declared]) -> Answer:
        del system, tools
        self.asked.append(list(messages))
        answer = next(self._answers)
        if isinstance(answer, Trouble):
            raise answer
        return answer

    @property
    def last_prompt(self) -> str:
        last = self.asked[-1][-1]
        assert isinstance(last, Prompt)
        return last.text

    def results(self, at: int = -1) -> tuple[Result, ...]:
        """The results with this place in the last request."""
        found = self.asked[-1][at]
        assert isinstance(found, Results)
        return found.results


def no_gateway(emit: Any) -> Gateway:
    return Gateway("http://door.invalid/mcp", httpx2.Client(), emit, Spill())


def run(
    model: Told,
    *,
    max_turns: int = 20,
    context_tokens: int = 1300,
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
    conversation, asking = Kept(NOWHERE, "c"), Asking(model, emit)
    loop = Loop(
        asking,
        toolbox,
        Compaction(asking, Spill(NOWHERE), emit),
        emit=emit,
        limits=limits,
        system="s",
        conversation=conversation,
    )
    return loop.run("go")


def keeping(done: list[Any]) -> Callable[[Any], Outcome]:
    def bash(given: Any) -> Outcome:
        done.append(given)
        return Outcome("ok")

    return bash


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
    model = Told(says("I beg", "cut"), says("in."))
    assert run(model).reason == "completed"
    assert "Go on" in model.last_prompt


def test_a_call_cut_at_the_limit_is_not_run() -> None:
    done: list[Any] = []
    model = Told(calls("bash", "bash", stop="cut"), says())
    run(model, bash=keeping(done))
    assert len(done) == 1
    assert [result.is_error for result in model.results()] == [False, True]


def test_useless_answers_end_the_run_after_a_few() -> None:
    model = Told(*[says("", "unusable") for _ in range(9)])
    assert run(model) == Ending("loop", "5 answers in a row were no use: told to be unusable")
    assert len(model.asked) == 6
    assert not any(isinstance(message, Reply) for message in model.asked[-1])


def test_a_paused_answer_is_asked_on() -> None:
    model = Told(says("Looking", "paused"), says("Done."))
    assert run(model).reason == "completed"
    assert model.asked[-1][-1] == Reply("Looking")


def test_arguments_that_are_no_json_are_answered() -> None:
    broken = Answer(Reply("", (Call("t0", "bash", '{"n": '),)), "done", Usage())
    model = Told(broken, says())
    run(model)
    assert model.results()[0].text == "bash: the input must be a JSON object"


def test_a_refusal_is_an_error() -> None:
    assert run(Told(says("I won't", "refused"))) == Ending(
        "error", "the model refused to go on: I won't"
    )


def test_403_ends_the_run_at_once_with_its_message() -> None:
    """CASE-101: one request, then the end."""
    model = Told(of_status(403, "over budget"))
    assert run(model) == Ending("error", "403: over budget")
    assert len(model.asked) == 1


def test_too_many_turns_end_the_run() -> None:
    model = Told(*[calls("bash", n=n) for n in range(9)])
    assert run(model, max_turns=3).reason == "max_turns"


def test_going_round_in_circles_ends_the_run_after_a_warning() -> None:
    model = Told(*[calls("bash", n=1) for _ in range(20)])
    assert run(model) == Ending("loop", "bash came 6 times with the same result")
    assert len(model.asked) == circles.STOP_AT
    third = model.asked[3][-1]
    assert isinstance(third, Results)
    assert "3 times now" in third.results[0].text


def test_an_unknown_tool_and_a_wrong_input_are_answered() -> None:
    model = Told(calls("nonsense", "bash", "broken", wrong=1), says())
    assert run(model).reason == "completed"
    texts = [result.text for result in model.results()]
    assert texts[0].startswith("No tool 'nonsense': there are bash")
    assert texts[1] == "bash: there is no parameter 'wrong'; there are n"
    assert all(result.is_error for result in model.results())


def test_every_call_has_its_result_in_order() -> None:
    model = Told(calls("bash", "broken", "bash"), says())
    run(model)
    assert [result.call for result in model.results()] == ["t0", "t1", "t2"]


BIG = Outcome("x" * 1000)


def test_the_oldest_results_of_a_long_conversation_are_put_aside() -> None:
    model = Told(*[calls("bash", n=n, tokens=100 + 100 * n) for n in range(9)], says())
    assert run(model, context_tokens=1000, bash=lambda _: BIG).reason == "completed"
    assert model.results(2)[0].text.startswith("[put aside to keep the conversation short:")
    assert model.results()[0].text.startswith("xxx")


def test_turns_without_long_results_are_summed_up() -> None:
    talk = [said(f"{n}" * 500, calls("bash", n=n, tokens=10 + 100 * n)) for n in range(4)]
    model = Told(*talk, says("All is well so far."), says())
    assert run(model, context_tokens=400).reason == "completed"
    task, summary, *newest = model.asked[-1]
    assert task == Prompt("go")
    assert isinstance(summary, Prompt)
    assert "All is well so far." in summary.text
    assert [type(message) for message in newest] == [Reply, Results]
    record = model.asked[-2][-1]
    assert isinstance(record, Prompt)
    assert "You called bash" in record.text


TOO_LONG = of_status(400, "prompt is too long", kind="too_long")


def test_a_prompt_that_is_too_long_is_shortened_and_asked_again() -> None:
    turns = [calls("bash", n=n) for n in range(6)]
    model = Told(*turns, TOO_LONG, says("Done."))
    assert run(model, bash=lambda _: BIG) == Ending("completed", "Done.")
    assert model.results(2)[0].text.startswith("[put aside")


def test_a_prompt_that_stays_too_long_ends_the_run() -> None:
    turns = [calls("bash", n=n) for n in range(6)]
    model = Told(*turns, TOO_LONG, TOO_LONG)
    assert run(model, bash=lambda _: BIG) == Ending("context", "400: prompt is too long")


def test_a_task_that_is_too_long_by_itself_ends_the_run() -> None:
    model = Told(of_status(413, "request too large"))
    assert run(model).reason == "context"
    assert len(model.asked) == 1
