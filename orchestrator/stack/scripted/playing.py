"""Request and scenario to what is answered. Nothing is remembered: the request holds all there is.

`play` finds the conversation by its newest prompt, counts the answers with tool calls since that
prompt (`standing`), checks what came back of the last one, and makes the next. Whatever is wrong ends
the conversation with words that begin with `scripted model:`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from orchestrator.stack.scripted import answers, checking, ids, knowledge, summaries, vocabulary
from orchestrator.stack.scripted.answers import Answer, Ends
from orchestrator.stack.scripted.request import Request, ToolTurn
from orchestrator.stack.scripted.scenario import Fail, Scenario, Turn
from orchestrator.stack.scripted.standing import Standing, standing_of
from orchestrator.stack.scripted.summaries import SoFar


@dataclass(frozen=True, slots=True)
class Move:
    """What to do with a request: the first of `fails` that still has times left, else the answer.

    `where` is for the log; `mismatch` says what went wrong, if something did. `conversation` and
    `names` say what it belongs to.
    """

    answer: Answer
    where: str
    fails: tuple[Fail, ...] = ()
    mismatch: str | None = None
    conversation: str = ""
    names: Mapping[str, str] = field(default_factory=dict)


def play(request: Request, scenario: Scenario) -> Move:
    """Say what to answer to `request`."""
    point = ids.point(request.system, request.prompts)
    if summaries.is_asked_for(request.prompts[-1].text):
        return _summary(request, scenario, point)
    where, conversation, values = "no conversation", "", dict[str, str]()
    try:
        at = standing_of(request, scenario)
        conversation, values = at.conversation.name, at.values
        where = f"conversation {conversation}"
        move = _next_move(request, at, point)
    except Ends as ends:
        said = answers.words(request, point, f"scripted model: {ends}")
        move = Move(said, where, mismatch=str(ends))
    return replace(move, conversation=conversation, names=values)


def _next_move(request: Request, at: Standing, point: str) -> Move:
    """Raises: Ends."""
    name, values, done = at.conversation.name, at.values, at.done
    where, point = f"conversation {name}", ids.answer_at(point, name, at.skipped + len(done))
    if done and (sessions := _still_running(done[-1])):
        return Move(answers.poll(request, sessions, point), f"{where}, a command still runs")
    turn = _next(at)
    where = str(turn.calls[0].place) if turn.calls else f"{where}, its end"
    seen = partial(knowledge.text_of, turns=at.turns, done=tuple(done), values=values)
    answer = answers.answer(request, turn, values, point, seen)
    looks_up = any(call.name in vocabulary.LOOKUPS for call in answer.calls)
    return Move(answer, where, fails=() if looks_up else turn.fails)


def _summary(request: Request, scenario: Scenario, point: str) -> Move:
    """What a harness gets that asks to have the conversation summed up: it takes no step."""
    *earlier, _ = request.prompts
    try:
        at = standing_of(replace(request, prompts=tuple(earlier)), scenario)
        _check_last(at)
    except Ends as ends:
        said = answers.words(request, point, f"scripted model: {ends}")
        return Move(said, "a summary", mismatch=str(ends))
    name, values = at.conversation.name, at.values
    so_far = SoFar(name, at.skipped + len(at.done), values)
    said = answers.words(request, point, summaries.written(so_far))
    return Move(said, f"conversation {name}, a summary", conversation=name, names=values)


def _still_running(turn: ToolTurn) -> list[int]:
    sessions = (result.session for result in turn.results if result is not None)
    return [session for session in sessions if session is not None]


def _next(at: Standing) -> Turn:
    """The turn after those done, if what came back of the last one is as expected."""
    if len(at.done) >= len(at.turns):
        raise Ends(f"conversation {at.conversation.name} is over, but the harness asks on")
    _check_last(at)
    return at.turns[len(at.done)]


def _check_last(at: Standing) -> None:
    """Raises: Ends, if what came back of the last turn isn't as expected."""
    if not at.done:
        return
    turn, tool_turn, values = at.turns[len(at.done) - 1], at.done[-1], at.values
    missing = len(turn.calls) - len(tool_turn.results)
    results = (*tool_turn.results, *[None] * missing)
    for call, result in zip(turn.calls, results, strict=False):
        try:
            difference = checking.difference(call, result, values)
        except KeyError as name:
            raise Ends(f"{call.place}: {name} is no longer in the request's results") from name
        if difference is not None:
            raise Ends(f"{call.place}: {difference}")
