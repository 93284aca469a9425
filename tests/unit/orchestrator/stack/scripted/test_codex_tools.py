"""Codex: a shell and patches in place of read, write and edit; tools looked up; commands waited for."""

import subprocess
from pathlib import Path

import pytest

from orchestrator.stack.scripted import codex_tools
from orchestrator.stack.scripted.entries import ActionEntry
from orchestrator.stack.scripted.playing import Move, play
from orchestrator.stack.scripted.request import Result, ToolTurn
from orchestrator.stack.scripted.shapes import Setting
from tests.unit.orchestrator.stack.scripted.test_playing import (
    calls_of,
    came_back,
    request_of,
    scenario_of,
)

TOOLS = frozenset({"exec_command", "write_stdin", "apply_patch", "tool_search"})
TEXT = "one\n  two\n  two and a half\nthree"


def move_of(steps: str, *done: ToolTurn, tools: frozenset[str] = TOOLS) -> Move:
    return play(request_of(*done, tools=tools), scenario_of(steps))


def done_by(*results: Result, tool: str = "exec_command") -> ToolTurn:
    return ToolTurn((tool,) * len(results), results)


def command(step: str) -> object:
    (call,) = move_of(step).answer.calls
    assert not isinstance(call.arguments, str)
    return call.arguments["cmd"]


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ("- shell: ls", "ls"),
        ("- shell: echo it's\n  timeout_s: 5", "timeout -k 2 5 bash -c 'echo it'\"'\"'s'"),
        ("- read: a b.txt", "cat -- 'a b.txt'"),
        ("- read: a\n  from_line: 3\n  lines: 2", "sed -n '3,4p' -- a"),
        ("- read: a\n  from_line: 3", "sed -n '3,$p' -- a"),
        ("- write: d/a\n  content: x", 'mkdir -p -- "$(dirname -- d/a)" && printf %s x > d/a'),
    ],
)
def test_an_action_is_a_command(step: str, expected: str) -> None:
    assert command(step) == expected


def test_a_model_with_another_shell_tool_is_served_too() -> None:
    move = move_of("- shell: ls\n  timeout_s: 5", tools=frozenset({"shell_command"}))
    told = {"command": "timeout -k 2 5 bash -c ls", "timeout_ms": 5000}
    assert calls_of(move) == [("shell_command", told)]


def test_a_file_is_written_by_a_patch_if_a_patch_can_say_it() -> None:
    (call,) = move_of('- write: d/a\n  content: "x\\n\\ny\\n"').answer.calls
    patch = "*** Begin Patch\n*** Add File: d/a\n+x\n+\n+y\n*** End Patch\n"
    assert (call.name, call.arguments) == ("apply_patch", patch)
    for content in ('""', "no end", '"x\\r\\n"'):
        (call,) = move_of(f"- write: d/a\n  content: {content}").answer.calls
        assert call.name == "exec_command"
    (call,) = move_of('- write: /abs\n  content: "x\\n"').answer.calls
    assert call.name == "exec_command"


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        pytest.param("one", "1", ["-one", "+1"], id="a whole line"),
        pytest.param(
            "wo\n  two a",
            "WO\n  2 a",
            ["-  two", "-  two and a half", "+  tWO", "+  2 and a half"],
            id="parts of two lines",
        ),
        pytest.param("one\n", "1\n\n", ["-one", "+1", "+"], id="with its end"),
        pytest.param("one\n", "", ["-one"], id="a line less"),
        pytest.param("hree", "3", ["-three", "+t3"], id="the last, without an end"),
        pytest.param("two\n", "2", None, id="two lines become one"),
        pytest.param("two", "2", None, id="two places"),
        pytest.param("four", "4", None, id="not there"),
        pytest.param("one", "1\r", None, id="another kind of line"),
    ],
)
def test_an_edit_is_a_patch_of_the_lines_it_touches(
    old: str, new: str, lines: list[str] | None
) -> None:
    entry = ActionEntry(edit="a", old=old, new=new)
    patch = codex_tools.change(entry, Setting("/w", lambda _: TEXT))
    if lines is None:
        assert patch is None
    else:
        head = ["*** Begin Patch", "*** Update File: a", "@@"]
        assert patch == "\n".join([*head, *lines, "*** End Patch", ""])


EDIT = "- {}\n- edit: a\n  old: wo\n  new: W"


@pytest.mark.parametrize(
    ("step", "result", "tool"),
    [
        pytest.param("read: a", Result("two"), "apply_patch", id="read"),
        pytest.param('write: a\n  content: "two\\n"', Result(""), "apply_patch", id="written"),
        pytest.param("edit: a\n  old: x\n  new: two", Result(""), "exec_command", id="unknown"),
        pytest.param("read: b", Result("two"), "exec_command", id="another file"),
        pytest.param("shell: cat a", Result("two"), "exec_command", id="a command"),
        pytest.param(
            "read: a\n  expect: {error: any}",
            Result("two", is_error=True),
            "exec_command",
            id="not read",
        ),
    ],
)
def test_a_patch_needs_to_know_the_file(step: str, result: Result, tool: str) -> None:
    (call,) = move_of(EDIT.format(step), done_by(result)).answer.calls
    assert call.name == tool


def test_what_is_known_is_forgotten_after_a_command_and_follows_edits() -> None:
    steps = "- read: a\n- edit: a\n  old: one\n  new: two\n- {}\n- edit: a\n  old: two\n  new: '2'"
    done = [done_by(Result(text)) for text in ("one\n", "", "")]
    (known,) = move_of(steps.format("read: b"), *done).answer.calls
    (forgotten,) = move_of(steps.format("shell: make"), *done).answer.calls
    assert (known.name, "-two\n+2" in str(known.arguments)) == ("apply_patch", True)
    assert forgotten.name == "exec_command"


def test_the_commands_do_what_they_say(tmp_path: Path) -> None:
    tricky = "it's\n$HOME \\ `x`"
    entries = [
        (codex_tools.put, ActionEntry(write="d/a b", content=tricky)),
        (codex_tools.replace, ActionEntry(edit="d/a b", old="it's\n$", new="\\1'\"")),
        (codex_tools.replace, ActionEntry(edit="d/a b", old="zzz", new="")),
    ]
    codes = [
        subprocess.run(["bash", "-c", say(entry)], cwd=tmp_path, check=False).returncode
        for say, entry in entries
    ]
    assert codes == [0, 0, 1]
    assert (tmp_path / "d/a b").read_text() == tricky.replace("it's\n$", "\\1'\"")


def test_a_gateway_tool_is_searched_for_first() -> None:
    (call,) = move_of("- mcp: get_task").answer.calls
    assert (call.name, call.arguments) == (
        "tool_search",
        {"query": "get_task get task sandgate", "limit": 8},
    )
    searched = came_back("[]", tool="tool_search")
    move = play(
        request_of(searched, tools=TOOLS | {"mcp__sandgate__get_task"}),
        scenario_of("- mcp: get_task"),
    )
    assert calls_of(move) == [("mcp__sandgate__get_task", {})]
    assert (
        "offers no tool mcp__sandgate__get_task" in move_of("- mcp: get_task", searched).answer.text
    )


def test_a_command_that_still_runs_is_waited_for_and_that_is_no_step() -> None:
    steps = (
        "- parallel:\n    - shell: a\n    - shell: b\n    - shell: c\n      expect: CD\n- say: end"
    )
    running = done_by(
        Result("A", is_error=None, session=1), Result("B"), Result("C", is_error=None, session=2)
    )
    asked = move_of(steps, running)
    told = [{"session_id": n, "chars": "", "yield_time_ms": 30_000} for n in (1, 2)]
    assert calls_of(asked) == [("write_stdin", each) for each in told]
    one = done_by(Result("a"), Result("", is_error=None, session=2), tool="write_stdin")
    (again,) = calls_of(move_of(steps, running, one))
    assert again == ("write_stdin", told[1])
    other = done_by(Result("D"), tool="write_stdin")
    assert move_of(steps, running, one, other).answer.text == "end"
    failed = done_by(Result("", is_error=True), tool="write_stdin")
    assert (
        "expected the text 'CD', got the error 'C'"
        in move_of(steps, running, one, failed).answer.text
    )


def test_what_the_protocol_does_not_tell_is_not_held_against_it() -> None:
    silent = ToolTurn(("mcp__sandgate__get_task",), (Result("denied", is_error=None),))
    tools = TOOLS | {"mcp__sandgate__get_task"}
    for wanted in ("true", "false", "any"):
        steps = f"- mcp: get_task\n  expect: {{error: {wanted}, contains: denied}}"
        assert move_of(steps, silent, tools=tools).mismatch is None
