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
            "- mcp: get_task\n  server: my-tracker",
            'tools["mcp__my_tracker__get_task"]({})',
        ),
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


def test_a_script_that_runs_for_very_long_is_waited_for_and_that_is_no_step() -> None:
    steps = scenario_of("- shell: a\n  expect: {error: false, contains: x}\n- say: end")
    running = ToolTurn((EXEC,), (Result("", is_error=None, session=8),))
    (call,) = play(request_of(running, tools=TOOLS), steps).answer.calls
    told = {"cell_id": "8", "yield_time_ms": 30_000}
    assert (call.name, call.arguments) == ("functions__wait", told)
    ended = ToolTurn((call.name,), (Result("x"),))
    assert play(request_of(running, ended, tools=TOOLS), steps).answer.text == "end"


def test_a_harness_that_can_not_be_asked_for_the_rest_is_told() -> None:
    running = ToolTurn(("bash",), (Result("", is_error=None, session=8),))
    move = play(request_of(running), scenario_of("- shell: a"))
    assert "a command still runs" in move.answer.text
