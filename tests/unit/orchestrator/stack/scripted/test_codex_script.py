"""Codex's models that have one tool, for scripts: each action is a script that calls the others."""

import pytest

from orchestrator.stack.scripted.codex_script import EXEC
from orchestrator.stack.scripted.playing import play
from orchestrator.stack.scripted.request import Result, ToolTurn
from tests.unit.orchestrator.stack.scripted.test_playing import request_of, scenario_of

TOOLS = frozenset({EXEC, "functions__wait", "clock__sleep"})


def script(steps: str, *done: ToolTurn) -> str:
    move = play(request_of(*done, tools=TOOLS), scenario_of(steps))
    (call,) = move.answer.calls
    assert call.name == EXEC
    assert isinstance(call.arguments, str)
    return call.arguments


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (
            '- shell: echo "it\'s"',
            r'tools.exec_command({"cmd": "echo \"it\'s\""'.replace(r"\'", "'"),
        ),
        ("- read: a\n  from_line: 3", "sed -n '3,$p' -- a"),
        (
            '- write: a\n  content: "x\\n"',
            r'tools.apply_patch("*** Begin Patch\n*** Add File: a\n+x',
        ),
        ("- write: a\n  content: x", "printf %s x > a"),
        ("- edit: a\n  old: x\n  new: y", "python3 -c"),
        (
            "- mcp: get_task\n  arguments: {key: T}",
            'tools["mcp__sandgate__get_task"]({"key": "T"})',
        ),
    ],
)
def test_an_action_is_a_script(step: str, expected: str) -> None:
    assert expected in script(step)


def test_a_file_that_is_known_is_changed_by_a_patch() -> None:
    read = ToolTurn((EXEC,), (Result("one\n"),))
    assert r"-one\n+two" in script("- read: a\n- edit: a\n  old: one\n  new: two", read)


def test_it_waits_for_its_command_itself() -> None:
    assert "tools.write_stdin(" in script("- shell: sleep 99")
