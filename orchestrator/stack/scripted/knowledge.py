"""What the model knows of the files it works on, from its own steps."""

from collections.abc import Iterable, Mapping

from orchestrator.stack.scripted import names
from orchestrator.stack.scripted.request import Result, ToolTurn
from orchestrator.stack.scripted.scenario import Call, Turn


def text_of(
    path: str, turns: Iterable[Turn], done: Iterable[ToolTurn], values: Mapping[str, str]
) -> str | None:
    """What is known for sure of a file's text: of the part last read or all that was written.

    A command may have changed any file, so nothing is known after one.
    """
    text: str | None = None
    for turn, tool_turn in zip(turns, done, strict=False):
        for call, result in zip(turn.calls, tool_turn.results, strict=False):
            try:
                text = _after(path, text, call, result, values)
            except KeyError:  # a name that is no longer known
                text = None
    return text


def _after(
    path: str, text: str | None, call: Call, result: Result | None, values: Mapping[str, str]
) -> str | None:
    entry = call.entry
    if call.kind == "shell":
        return None
    about = {"read": entry.read, "write": entry.write, "edit": entry.edit}.get(call.kind)
    if about is None or names.fill(about, values) != path:
        return text
    if result is None or result.is_error:
        return None
    if call.kind == "read":
        return result.text
    if call.kind == "write":
        return names.fill(entry.content, values)
    return None if text is None else _edited(text, call, values)


def _edited(text: str, call: Call, values: Mapping[str, str]) -> str | None:
    old = names.fill(call.entry.old, values)
    return text.replace(old, names.fill(call.entry.new, values)) if text.count(old) == 1 else None
