"""YAML to a `Scenario`; everything wrong with a file is said as a sentence with line and step."""

from collections.abc import Iterator
from pathlib import Path

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from orchestrator.stack.scripted.entries import ScenarioEntry
from orchestrator.stack.scripted.lines import Lines, Location
from orchestrator.stack.scripted.scenario import Scenario
from orchestrator.stack.scripted.turns import NotPlayable, conversation_of


class ScenarioError(Exception):
    """The file can't be played. The message is one sentence per fault, each with its line."""


def load(path: Path) -> Scenario:
    """Read and check a scenario file.

    Raises:
        ScenarioError: it can't be read, or something in it is wrong.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioError(f"{path}: can't be read: {error}") from error
    return parse(text, source=str(path))


def parse(text: str, *, source: str = "scenario") -> Scenario:
    """Check a scenario's text; `source` names it in errors.

    Raises:
        ScenarioError: as for `load`.
    """
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise ScenarioError(f"{source}: is not YAML: {_one_line(str(error))}") from error
    lines = Lines(root)
    faults = list(lines.repeated_keys())
    if not faults:
        try:
            entry = ScenarioEntry.model_validate(yaml.safe_load(text))
        except ValidationError as error:
            faults = _faults(error)
        else:
            return _scenario(entry, lines, source)
    raise ScenarioError("\n".join(_sentences(faults, lines, source)))


def _scenario(entry: ScenarioEntry, lines: Lines, source: str) -> Scenario:
    try:
        return Scenario(
            tuple(
                conversation_of(
                    each, lambda *at, number=number: lines.of("conversations", number, *at)
                )
                for number, each in enumerate(entry.conversations)
            )
        )
    except NotPlayable as error:
        raise ScenarioError(f"{source}, line {error.line}: {error}") from error


def _faults(error: ValidationError) -> list[tuple[Location, str]]:
    """Where each validation error points to, and what it says; an empty list that only follows from
    faults inside it is left out."""
    details = error.errors(include_url=False)
    return [
        (detail["loc"], _in_words(detail))
        for detail in details
        if detail["type"] != "too_short"
        or not any(_is_inside(other["loc"], detail["loc"]) for other in details)
    ]


def _is_inside(location: Location, outer: Location) -> bool:
    return len(location) > len(outer) and location[: len(outer)] == outer


def _in_words(detail: ErrorDetails) -> str:
    fixed = {
        "extra_forbidden": "is not a key that this place knows",
        "missing": "is missing",
        "too_short": "is empty",
        "string_too_short": "is empty",
        "model_type": "should be keys with values",
    }
    message = fixed.get(detail["type"], detail["msg"]).removeprefix("Value error, ")
    return message.replace("Input should", "should", 1)


def _sentences(faults: list[tuple[Location, str]], lines: Lines, source: str) -> Iterator[str]:
    for location, message in faults:
        yield f"{source}, line {lines.of(*location)}{_described(location)}: {message}"


def _described(location: Location) -> str:
    """`("conversations", 0, "steps", 2, "shell")` -> `, conversation 1, step 3, shell`."""
    words: list[str] = []
    for part in location:
        if isinstance(part, int):
            words[-1] = f"{words[-1].removesuffix('s')} {part + 1}" if words else str(part + 1)
        elif not part.startswith(("function-", "literal[", "constrained-", "union")):
            words.append(part)
    return "".join(f", {word}" for word in words)


def _one_line(text: str) -> str:
    return " ".join(text.split())
