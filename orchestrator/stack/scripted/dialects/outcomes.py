"""What came back of a call, where the protocol has text alone: what the harness's text tells.

Codex puts a head before a command's output (its exit code, or that it still runs), before a
gateway tool's, and before what a script says; the native loop begins what failed with a word that says so.
"""

import re
from dataclasses import replace

from orchestrator.stack.scripted.request import Result

_HEAD = re.compile(
    r"\A(?:Chunk ID: .*\n)?"
    r"(?:Exit code: (?P<patched>-?\d+)\n)?"
    r"Wall time: .*\n"
    r"(?:Process exited with code (?P<exited>-?\d+)\n)?"
    r"(?:Process running with session ID (?P<session>\d+)\n)?"
    r"(?:Original token count: \d+\n)?"
    r"Output:(?:\n|\Z)"
)
_SCRIPT = re.compile(
    r"\AScript (?P<how>completed|failed|running with cell ID (?P<cell>\d+))\n"
    r"Wall time .*\nOutput:\n*"
)
_FAILED = re.compile(r"\A(?:Error:|Exit code -?[1-9]|err: |apply_patch verification failed)")


def outcome(text: str) -> Result:
    """The output without its head, and whether it failed (None: the text doesn't tell)."""
    script = _SCRIPT.match(text)
    if script is not None:
        said = outcome(text[script.end() :])
        if script["cell"]:
            return replace(said, is_error=None, session=int(script["cell"]))
        return replace(said, is_error=True) if script["how"] == "failed" else said
    head = _HEAD.match(text)
    if head is None:
        return Result(text, is_error=True if _FAILED.match(text) else None)
    body = text[head.end() :]
    code = head["exited"] or head["patched"]
    failed = None if code is None else code != "0"
    return Result(body, failed, int(head["session"]) if head["session"] else None)
