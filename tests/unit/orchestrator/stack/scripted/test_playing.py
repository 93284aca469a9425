"""Which step is next is worked out from the request alone."""

import textwrap

import pytest

from orchestrator.stack.scripted import Scenario, parse
from orchestrator.stack.scripted.playing import Move, play
from orchestrator.stack.scripted.request import Prompt, Request, Result, ToolTurn

NATIVE = frozenset({"bash", "read", "write", "edit", "mcp__sandgate__get_task"})
CLAUDE = frozenset({"Bash", "Read", "Write", "Edit", "mcp__sandgate__get_task"})


def scenario_of(steps: str, head: str = "") -> Scenario:
    text = f"scenario: 1\nconversations:\n  - name: a\n{textwrap.indent(head, '    ')}    steps:\n"
    return parse(text + textwrap.indent(textwrap.dedent(steps), "      "))


def request_of(
    *turns: ToolTurn, prompt: str = "do it", tools: frozenset[str] = NATIVE, system: str = ""
) -> Request:
    return Request(
        "m", stream=False, system=system, prompts=(Prompt(prompt, turns),), tools=tools, size=400
    )


def came_back(text: str = "ok", *, error: bool = False, tool: str = "bash") -> ToolTurn:
    return ToolTurn((tool,), (Result(text, error),))


def calls_of(move: Move) -> list[tuple[str, object]]:
    return [(call.name, call.arguments) for call in move.answer.calls]


ALL_ACTIONS = """
- shell: ls
  timeout_s: 5
- read: src/a.py
  from_line: 2
  lines: 3
- write: b
  content: c
- edit: d
  old: e
  new: f
- mcp: get_task
  arguments: {id: 1}
"""


@pytest.mark.parametrize(
    ("tools", "expected"),
    [
        pytest.param(
            NATIVE,
            [
                ("bash", {"command": "ls", "timeout_s": 5}),
                ("read", {"path": "src/a.py", "offset": 2, "limit": 3}),
                ("write", {"path": "b", "content": "c"}),
                ("edit", {"path": "d", "old": "e", "new": "f"}),
                ("mcp__sandgate__get_task", {"id": 1}),
            ],
            id="native",
        ),
        pytest.param(
            CLAUDE,
            [
                ("Bash", {"command": "ls", "timeout": 5000, "description": "scripted step"}),
                ("Read", {"file_path": "/w/src/a.py", "offset": 2, "limit": 3}),
                ("Write", {"file_path": "/w/b", "content": "c"}),
                ("Edit", {"file_path": "/w/d", "old_string": "e", "new_string": "f"}),
                ("mcp__sandgate__get_task", {"id": 1}),
            ],
            id="Claude Code",
        ),
    ],
)
def test_each_action_uses_the_tool_that_the_harness_declares(
    tools: frozenset[str], expected: list[tuple[str, object]]
) -> None:
    scenario = scenario_of(ALL_ACTIONS)
    system = "Primary working directory: /w"
    seen = []
    for number in range(len(expected)):
        done = [came_back()] * number
        seen += calls_of(play(request_of(*done, tools=tools, system=system), scenario))
    assert seen == expected


def test_the_same_request_gets_the_same_answer_and_ids_differ_between_steps() -> None:
    scenario = scenario_of("- shell: a\n- shell: a")
    first, again = (play(request_of(), scenario).answer for _ in range(2))
    second = play(request_of(came_back()), scenario).answer
    assert first == again
    assert first.calls[0].id != second.calls[0].id


def test_after_the_last_step_the_model_says_done() -> None:
    answer = play(request_of(came_back()), scenario_of("- shell: a")).answer
    assert (answer.text, answer.calls) == ("Done.", ())


def test_a_harness_that_goes_on_after_the_end_is_told_so() -> None:
    move = play(request_of(came_back(), came_back()), scenario_of("- shell: a"))
    assert move.answer.text == "scripted model: conversation a is over, but the harness asks on"


@pytest.mark.parametrize(
    ("step", "result", "said"),
    [
        pytest.param(
            "expect: yes!",
            came_back("no"),
            "expected the text 'yes!', got the result 'no'",
            id="contains",
        ),
        pytest.param("expect: {lacks: n}", came_back("no"), "expected no text 'n'", id="lacks"),
        pytest.param(
            "expect: {matches: '^o'}", came_back("no"), "expected a match of '^o'", id="matches"
        ),
        pytest.param(
            "expect: {error: true}",
            came_back("no"),
            "expected an error, got the result",
            id="error",
        ),
        pytest.param(
            "expect: {error: false}",
            came_back("no", error=True),
            "expected no error, got the error",
            id="no error",
        ),
        pytest.param(
            "capture: {x: '(z)'}", came_back("no"), "expected '(z)' to match for x", id="capture"
        ),
        pytest.param(
            "expect: a", ToolTurn(("bash",), (None,)), "expected a result, got none", id="no result"
        ),
        pytest.param(
            "expect: a", ToolTurn((), ()), "expected a result, got none", id="no results at all"
        ),
    ],
)
def test_a_mismatch_ends_the_conversation_with_what_was_expected(
    step: str, result: ToolTurn, said: str
) -> None:
    move = play(request_of(result), scenario_of(f"- shell: x\n  {step}\n- shell: never"))
    assert move.answer.text.startswith("scripted model: conversation a, step 1 (shell, line 5): ")
    assert said in move.answer.text
    assert move.answer.calls == ()
    assert move.mismatch is not None


@pytest.mark.parametrize(
    ("step", "result"),
    [
        ("expect: [a, b]", came_back("b a")),
        ("expect: {matches: '^a$'}", came_back("b\na\nc")),
        ("expect: {error: true, contains: bad}", came_back("bad", error=True)),
        ("timeout_s: 3", came_back("red test", error=True)),
    ],
)
def test_what_is_as_expected_goes_on(step: str, result: ToolTurn) -> None:
    move = play(request_of(result), scenario_of(f"- shell: x\n  {step}\n- shell: next"))
    assert calls_of(move) == [("bash", {"command": "next"})]


def test_any_action_but_shell_must_succeed_unless_said_otherwise() -> None:
    refused = came_back("denied", error=True, tool="mcp__sandgate__get_task")
    assert play(request_of(refused), scenario_of("- mcp: get_task")).mismatch is not None
    tolerant = scenario_of("- mcp: get_task\n  expect: {error: any}")
    assert play(request_of(refused), tolerant).mismatch is None


def test_names_are_captured_from_prompt_system_and_results() -> None:
    head = "capture: {task: 'task (\\S+)', branch: 'branch (\\S+)'}\n"
    steps = """
    - shell: git checkout {{branch}}
      capture: {sha: 'at (\\w+)'}
    - mcp: get_task
      arguments: {id: "{{task}}", list: ["{{sha}}"]}
      expect: "{{task}} is {{sha}}"
    - say: "{{sha}}"
    """
    scenario = scenario_of(steps, head)
    done = [came_back("at abc1"), came_back("T-1 is abc1")]
    moves = [
        play(request_of(*done[:n], prompt="task T-1", system="branch b/1"), scenario).answer
        for n in range(3)
    ]
    assert moves[0].calls[0].arguments == {"command": "git checkout b/1"}
    assert moves[1].calls[0].arguments == {"id": "T-1", "list": ["abc1"]}
    assert moves[2].text == "abc1"


def test_a_prompt_without_the_wanted_name_ends_the_conversation() -> None:
    move = play(
        request_of(prompt="hello"), scenario_of("- say: x", "capture: {task: 'task (\\S+)'}\n")
    )
    assert "for task matches neither the prompt 'hello' nor the system" in move.answer.text


def test_a_name_whose_result_was_trimmed_away_is_named() -> None:
    scenario = scenario_of("- shell: a\n  capture: {x: 'id (.)'}\n- shell: b\n- shell: '{{x}}'")
    move = play(request_of(came_back("[trimmed]"), came_back()), scenario)
    assert "'x' was captured from a result that the request no longer holds" in move.answer.text


@pytest.mark.parametrize(
    ("when", "fits"),
    [
        ("prompt_contains: do", True),
        ("prompt_contains: [do, not]", False),
        ("prompt_lacks: do", False),
        ("prompt_matches: '^do .t$'", True),
        ("system_contains: sys", True),
        ("prompt_number: 1", True),
        ("prompt_number: 2", False),
        ("model: m", True),
        ("model: n", False),
    ],
)
def test_the_first_conversation_that_fits_is_played(when: str, fits: bool) -> None:  # noqa: FBT001 - a table
    move = play(request_of(system="a sys"), scenario_of("- say: played", f"when: {{{when}}}\n"))
    assert (move.answer.text == "played") is fits
    assert (
        "no conversation of the scenario (a) fits the prompt 'do it'" in move.answer.text
    ) is not fits


def test_a_held_back_tool_is_looked_up_first_and_that_is_no_step() -> None:
    scenario = scenario_of("- say: now\n  mcp: get_task")
    hidden = frozenset({"Bash", "ToolSearch"})
    lookup = play(request_of(tools=hidden), scenario)
    assert calls_of(lookup) == [("ToolSearch", {"query": "select:mcp__sandgate__get_task"})]
    looked_up = came_back("found", tool="ToolSearch")
    found = play(request_of(looked_up, tools=hidden | {"mcp__sandgate__get_task"}), scenario)
    assert calls_of(found) == [("mcp__sandgate__get_task", {})]
    still_hidden = play(request_of(looked_up, tools=hidden), scenario)
    assert "the harness offers no tool mcp__sandgate__get_task" in still_hidden.answer.text


def test_a_tool_that_is_not_offered_is_called_only_if_told() -> None:
    told = play(request_of(), scenario_of("- mcp: forbidden\n  undeclared: true"))
    assert calls_of(told) == [("mcp__sandgate__forbidden", {})]
    untold = play(request_of(), scenario_of("- mcp: forbidden"))
    assert "offers no tool mcp__sandgate__forbidden, but bash, edit" in untold.answer.text


def test_a_harness_without_a_tool_for_an_action_is_told_which() -> None:
    move = play(request_of(tools=frozenset({"other"})), scenario_of("- shell: x"))
    assert (
        "step 1 (shell, line 5): the harness declares no tool for it, but other" in move.answer.text
    )


def test_a_request_without_tools_gets_words_and_takes_no_step() -> None:
    move = play(request_of(tools=frozenset()), scenario_of("- shell: x"))
    assert (move.answer.text, move.answer.calls, move.mismatch) == (
        "A scripted conversation",
        (),
        None,
    )


def test_parallel_calls_are_one_answer_and_each_is_checked() -> None:
    scenario = scenario_of(
        "- parallel:\n    - shell: a\n    - read: b\n      expect: B\n- say: end"
    )
    assert [name for name, _ in calls_of(play(request_of(), scenario))] == ["bash", "read"]
    results = ToolTurn(("bash", "read"), (Result("x"), Result("b")))
    move = play(request_of(results), scenario)
    assert "step 1 (read, line 7): expected the text 'B'" in move.answer.text


def test_tokens_are_counted_from_sizes_unless_given() -> None:
    counted = play(request_of(), scenario_of("- say: abcdefgh")).answer.tokens
    given = play(
        request_of(), scenario_of("- say: x\n  usage: {input_tokens: 7, cache_read_tokens: 9}")
    ).answer.tokens
    thought = play(request_of(), scenario_of("- say: x\n  usage: {reasoning_tokens: 5}"))
    assert (counted.input, counted.output, counted.cache_read) == (100, 2, 0)
    assert (given.input, given.output, given.cache_read) == (7, 1, 9)
    assert (thought.answer.tokens.output, thought.answer.tokens.reasoning) == (6, 5)


def test_padding_makes_the_words_long() -> None:
    answer = play(request_of(), scenario_of("- say: x\n  padding: 3000")).answer
    assert (answer.text[:7], len(answer.text)) == ("x and s", 3001)
