"""Does what came back agree with what the scenario expects?"""

import re
from collections.abc import Mapping

from orchestrator.stack.scripted import names
from orchestrator.stack.scripted.entries import Expect
from orchestrator.stack.scripted.request import Result
from orchestrator.stack.scripted.scenario import Call, Turn

_SHOWN = 600
_MAY_FAIL = frozenset({"shell"})
"""Actions whose failure is ordinary news: a red test, a grep without a hit."""


def difference(call: Call, result: Result | None, values: Mapping[str, str]) -> str | None:
    """What `call` expected and did not get, or None if all is as expected."""
    if result is None:
        return "expected a result, got none in the request"
    for expect in call.expects or (Expect(),):
        wanted = _unmet(call.kind, expect, result, values)
        if wanted is not None:
            kind = "the error" if result.is_error else "the result"
            return f"expected {wanted}, got {kind} {shortened(result.text)!r}"
    for name, pattern in (call.captures or {}).items():
        if names.take(pattern, result.text) is None:
            return f"expected {pattern!r} to match for {name}, got {shortened(result.text)!r}"
    return None


def _unmet(kind: str, expect: Expect, result: Result, values: Mapping[str, str]) -> str | None:
    """What of `expect` does not hold, in words; what the protocol doesn't tell isn't held against it."""
    unless_said = "any" if kind in _MAY_FAIL else False
    must_fail = unless_said if expect.error is None else expect.error
    if result.is_error is not None and must_fail not in {"any", result.is_error}:
        return "an error" if must_fail else "no error"
    return _unmet_text(expect, result.text, values)


def _unmet_text(expect: Expect, text: str, values: Mapping[str, str]) -> str | None:
    for part in expect.contains:
        if (wanted := names.fill(part, values)) not in text:
            return f"the text {wanted!r}"
    for part in expect.lacks:
        if (unwanted := names.fill(part, values)) in text:
            return f"no text {unwanted!r}"
    if expect.matches is not None:
        pattern = names.fill(expect.matches, values, re.escape)
        if not re.search(pattern, text, re.MULTILINE):
            return f"a match of {pattern!r}"
    return None


def captured(turn: Turn, results: tuple[Result | None, ...]) -> dict[str, str]:
    """The names that a turn's calls took from its results; what does not match is left out."""
    found: dict[str, str] = {}
    for call, result in zip(turn.calls, results, strict=False):
        for name, pattern in (call.captures or {}).items():
            value = names.take(pattern, result.text) if result else None
            if value is not None:
                found[name] = value
    return found


def shortened(text: str) -> str:
    """The beginning and the end of a long text."""
    if len(text) <= _SHOWN:
        return text
    half = _SHOWN // 2
    return f"{text[:half]} [... {len(text) - _SHOWN} characters ...] {text[-half:]}"
