"""What of a conversation gives way when it gets long: results first, then turns; never half a pair [pure].

The person's prompts stay, and so do the newest turns with all their calls and results.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from native.conversation import Message, Prompt, Reply, Result, Results, size
from native.text import middle_out

DEFAULT_WINDOW_TOKENS = 200_000
_FULL = 0.75
"""Of the window: above it the conversation is shortened, so that one more answer always fits."""
_AIM = 0.5
"""Down to this part of the window, so that shortening (which costs the provider's cache) is rare."""
_SHORT_CHARS = 400
"""A result that is no longer is not worth putting aside."""
_SHOWN_CHARS = 2000
"""Of each piece of a record that is to be summed up."""

SUMMARY_SYSTEM = "You sum up the record of a coding agent's work, for the agent itself."
_SUMMARISE = """\
Sum up the record below. It is of your own work on a task; it will be taken from you, and you go on \
with your summary in its place. Say what was asked and by whom, what was found out, what was done (files, \
commands and their outcome, branches, commits), what was tried in vain or refused, and what is left to do. \
Be exact with names, paths and numbers. Answer with the summary alone.

<record>
{record}
</record>"""
_SUMMARY = """\
[The conversation became long. What was before the next turns, in your own words:]

{summary}"""
_NO_SUMMARY = "(There is no summary. Look at the task and at the files again.)"


def aim(size_now: int, tokens_now: int, window_tokens: int) -> int | None:
    """Characters to get down to, given what the last request took; None if it is short enough."""
    if tokens_now <= window_tokens * _FULL:
        return None
    return int(size_now * _AIM * window_tokens / tokens_now)


def with_results_put_aside(
    messages: Sequence[Message], characters: int, put_aside: Callable[[Result], str]
) -> tuple[list[Message], int]:
    """Replace the oldest results until `characters` are left or nothing more may go; and how many were.

    `put_aside` gives what stands in a result's place. The last message's results stay: the model
    has not seen them yet.
    """
    excess = size(messages) - characters
    left = list(messages)
    count = 0
    for at, message in enumerate(messages[:-1]):
        if not isinstance(message, Results):
            continue
        results = list(message.results)
        for number, result in enumerate(results):
            if excess > 0 and len(result.text) > _SHORT_CHARS:
                text = put_aside(result)
                excess -= len(result.text) - len(text)
                results[number] = replace(result, text=text)
                count += 1
        left[at] = Results(tuple(results))
    return left, count


def split(
    messages: Sequence[Message], characters: int
) -> tuple[Sequence[Message], Sequence[Message]]:
    """Older and newest turns: of these as many as fit in `characters`, but the last in any case."""
    start, left = len(messages), characters
    for at in range(len(messages) - 1, -1, -1):
        left -= size(messages[at : at + 1])
        if isinstance(messages[at], Reply) and (left >= 0 or start == len(messages)):
            start = at
    if start == len(messages):
        return (), messages
    return messages[:start], messages[start:]


def summary_asked(older: Sequence[Message], characters: int) -> Prompt:
    """The question for a summary, of about `characters` at most."""
    record = "\n\n".join(filter(None, map(_told, older)))
    return Prompt(_SUMMARISE.format(record=middle_out(record, characters)), "loop")


def with_summary(
    older: Sequence[Message], summary: str, newest: Sequence[Message]
) -> list[Message]:
    """The conversation with a summary in the older turns' place."""
    said = [each for each in older if isinstance(each, Prompt) and each.origin == "person"]
    text = _SUMMARY.format(summary=summary.strip() or _NO_SUMMARY)
    return [*said, Prompt(text, "summary"), *newest]


def _told(message: Message) -> str:
    match message:
        case Prompt(text, origin):
            return "" if origin == "loop" else f"Said to you: {middle_out(text, 2 * _SHOWN_CHARS)}"
        case Reply():
            return "\n".join(_done(message))
        case Results(results):
            return "\n".join(
                f"Result of {result.name}{' (an error)' if result.is_error else ''}:"
                f" {middle_out(result.text, _SHOWN_CHARS)}"
                for result in results
            )


def _done(reply: Reply) -> Iterator[str]:
    if reply.text:
        yield f"You said: {middle_out(reply.text, _SHOWN_CHARS)}"
    for call in reply.calls:
        yield f"You called {call.name}: {middle_out(json.dumps(call.input), _SHOWN_CHARS)}"
