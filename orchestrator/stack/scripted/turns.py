"""Steps of a file to turns: words, failures and expectations find the answer they belong to."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from orchestrator.stack.scripted import names
from orchestrator.stack.scripted.entries import ActionEntry, ConversationEntry, StepEntry
from orchestrator.stack.scripted.scenario import Call, Conversation, Fail, Place, Turn

type LineOf = Callable[..., int]

LAST_WORDS = "Done."


class NotPlayable(Exception):
    """A step can't be played where it stands. `line` says where."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


def conversation_of(entry: ConversationEntry, line_of: LineOf) -> Conversation:
    """Make the turns of a conversation; `line_of("steps", n, ...)` is where a part stands.

    Raises:
        NotPlayable: an expectation without an action, a name that nothing captures.
    """
    turns: list[Turn] = []
    waiting = Turn()
    for number, step in enumerate(entry.steps):
        place = Place(entry.name, number + 1, step.action or "say", line_of("steps", number))
        if step.action is None and step.say is None:
            _attach(turns, step, place, said=waiting != Turn())
            continue
        waiting = _joined(waiting, step, place)
        if step.action not in {None, "fail"}:
            turns.append(replace(waiting, calls=tuple(_calls(step, place, line_of, number))))
            waiting = Turn()
    turns.append(waiting if waiting.say else replace(waiting, say=LAST_WORDS))
    _check_names(entry, turns)
    return Conversation(entry.name, entry.when, entry.capture, tuple(turns))


def _joined(turn: Turn, step: StepEntry, place: Place) -> Turn:
    """`turn` with what this step adds to it: words, a failure before it, its pace and usage."""
    fails = turn.fails
    if step.fail is not None:
        fails += (
            Fail(step.fail, place, step.message, step.retry_after_s, step.times, step.stall_s),
        )
    return Turn(
        say="\n".join(filter(None, [turn.say, step.say])),
        fails=fails,
        usage=step.usage if "usage" in step.model_fields_set else turn.usage,
        delay_s=turn.delay_s + step.delay_s,
        stream_s=turn.stream_s + step.stream_s,
        padding=turn.padding + step.padding,
    )


def _calls(step: StepEntry, place: Place, line_of: LineOf, number: int) -> Iterator[Call]:
    if step.action != "parallel":
        yield _call(step, place)
        return
    for inner_number, inner in enumerate(step.parallel):
        line = line_of("steps", number, "parallel", inner_number)
        yield _call(inner, replace(place, what=inner.action or "", line=line))


def _call(entry: ActionEntry, place: Place) -> Call:
    expects = (entry.expect,) if entry.expect else ()
    return Call(entry.action or "", entry, place, expects, entry.capture)


def _attach(turns: list[Turn], step: StepEntry, place: Place, *, said: bool) -> None:
    """Put a step that only expects or captures to the action before it."""
    if said or not turns or len(turns[-1].calls) != 1:
        raise NotPlayable(
            f"step {place.step} expects something, but the step before it is not one action",
            place.line,
        )
    call = turns[-1].calls[0]
    expects = call.expects + ((step.expect,) if step.expect else ())
    captures = {**(call.captures or {}), **step.capture}
    turns[-1] = replace(turns[-1], calls=(replace(call, expects=expects, captures=captures),))


def _check_names(entry: ConversationEntry, turns: list[Turn]) -> None:
    known = set(entry.capture)
    for turn in turns:
        for call in turn.calls:
            _check_used(call.entry.model_dump(exclude={"expect", "capture"}), known, call.place)
        if turn.calls:
            _check_used(turn.say, known, turn.calls[0].place)
        elif missing := sorted(set(names.used(turn.say)) - known):
            raise NotPlayable(_unknown(missing[0], f"{entry.name}, its last words"), 1)
        for call in turn.calls:
            known |= set(call.captures or {})
            expected = [expect.model_dump() for expect in call.expects]
            _check_used(expected, known, call.place)


def _check_used(value: object, known: set[str], place: Place) -> None:
    if missing := sorted(set(names.used(value)) - known):
        raise NotPlayable(_unknown(missing[0], str(place)), place.line)


def _unknown(name: str, where: str) -> str:
    return (
        f"{where} uses {{{{{name}}}}}, which nothing before it captures"
        f" (write \\{{{{{name}}}}} if you mean the braces)"
    )
