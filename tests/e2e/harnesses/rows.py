"""What can go wrong between a harness and its model, as one table: the same for every real program.

A row is played by the scripted model to a task whose title names it, through a real program in a
real sandbox. How to use it (see `test_rows.py`):

- a harness is a `Program`: a test's parameter `program`, or what its module calls `PROGRAM`;
- the fixture `begun` has an agent for each row that is to be tried, so that all of them, of all
  harnesses, are played side by side, and holds their tasks; those that take longest are under way
  from the folder's first test on;
- `row.assert_ended(run)` says whether the run ended as it must.

A row that only one harness has goes into `ROWS` too, with its name in `only`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from orchestrator.stack.scripted.entries import Mishap
from tests.e2e.house import House

PATIENCE_S = 240.0
"""A row that uses all its retries takes a minute, and a busy machine more."""
SILENCE_S = 6
"""So long the lodge lets a provider be silent."""
UNSEEN_USD = Decimal("0.05")
"""What may pass between two looks at a stream, of a model that ignores the limit it was given."""
CALL_TIMEOUT_S = 15
"""So long the lodge waits for a tool."""
TOOLS = Path(__file__).with_name("tools.yaml")
"""The conversations of `test_tools`."""
NOWHERE = "127.0.0.1:9"
"""Nobody listens there."""


@dataclass(frozen=True, slots=True)
class Program:
    """A harness, and what it is tried with. `command`: what its processes' command lines hold."""

    name: str
    short: str
    provider: str
    model: str
    command: str


CLAUDE_CODE = Program(
    name="claude_code",
    short="claude",
    provider="anthropic",
    model="claude-sonnet-5",
    command="/opt/harness/claude_code/claude",
)
CODEX = Program(
    name="codex",
    short="codex",
    provider="openai",
    model="gpt-5.6-terra",
    command="/opt/harness/codex/",
)
CODEX_WITH_TOOLS = replace(CODEX, short="codex-tools", model="gpt-5.5")
"""Codex gives this model its tools one by one; newer ones, and the table's, write scripts that call them."""

NATIVE = tuple(
    Program(
        name="native",
        short=f"native-{provider}",
        provider=provider,
        model=model,
        command="/usr/bin/python3 -I /opt/sandgate/native/run",
    )
    for provider, model in (
        ("google", "gemini-3.1-pro-preview"),
        ("anthropic", CLAUDE_CODE.model),
        ("openai", CODEX.model),
    )
)
"""In each of its dialects."""


type Begun = Mapping[tuple[str, str], str]
"""Tasks by a program's short name and a row's."""


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that goes wrong, and how the run must end.

    `steps`: what the model does after it has had the task read. `kind`, `status`: what the record
    says of the last model call; no kind: nothing was wrong with it.
    """

    name: str
    steps: str
    cause: str
    outcome: str = "failed"
    kind: str = ""
    status: int | None = None
    lifts: bool = False
    """Whether the record says when a limit lifts."""
    nowhere: bool = False
    """Whether its provider can't be reached at all."""
    terms: Mapping[str, Any] = field(default_factory=dict)
    """Terms of its engagement that differ from everybody's."""
    past_usd: Decimal = Decimal(0)
    """So much the run may cost more than its budget."""
    only: str = ""
    early: bool = False
    """Whether it uses all its retries: it is begun before any other test, and looked at last."""

    def assert_ended(self, run: Mapping[str, Any]) -> None:
        """Fail unless the run ended as the row says."""
        assert how(run) == (self.outcome, self.cause), whole(run)
        model = run["evidence"].get("model") or {}
        assert model.get("kind", "") == self.kind, run["evidence"]
        if self.status is not None:
            assert model["status"] == self.status, model
        assert bool(model.get("lifts_at")) == self.lifts, model
        if "budget_usd" in self.terms:
            most = Decimal(self.terms["budget_usd"]) + self.past_usd
            assert Decimal(run["usage"]["cost_usd"]) <= most, whole(run)


ASK = "{mcp: ask_questions, arguments: {questions: ['What next?']}}"


def _fails(name: str, fail: int | Mishap, kind: str, cause: str, more: str = "") -> Row:
    """A provider that fails like this for ever."""
    status = fail if isinstance(fail, int) else None
    early = kind in {"rate_limit", "provider_error", "overloaded", "cut", "stalled"}
    steps = f"- {{fail: {fail}{more}}}"
    return Row(name, steps, cause, kind=kind, status=status, early=early)


def _mends(name: str, fail: int | Mishap, more: str) -> Row:
    """A provider that fails at first: the run goes on and ends well."""
    return Row(name, f"- {{fail: {fail}, {more}}}\n- {ASK}", "handed_over", "asked")


ROWS: tuple[Row, ...] = (
    _fails("429", 429, "rate_limit", "rate_limit"),
    _fails("500", 500, "provider_error", "model_unavailable"),
    _fails("529", 529, "overloaded", "model_unavailable"),
    _fails("cut", "cut", "cut", "model_unavailable"),
    _fails("stall", "stall", "stalled", "model_unavailable"),
    Row("refused", f"- {ASK}", "model_unavailable", kind="unreachable", nowhere=True, early=True),
    _fails("401", 401, "credential", "credential"),
    _fails("402", 402, "credential", "credential"),
    _fails("403", 403, "credential", "credential"),
    _fails("400", 400, "bad_request", "harness_error"),
    _mends("429 for a second", 429, "retry_after_s: 1, times: 2"),
    Row(
        "429 for an hour",
        "- {fail: 429, retry_after_s: 3600}",
        "rate_limit",
        kind="rate_limit",
        status=429,
        lifts=True,
    ),
    _mends("500 twice", 500, "times: 2"),
    _mends("cut once", "cut", "times: 1"),
    _mends("stall once", "stall", "times: 1"),
    _fails("overflow", "overflow", "context_overflow", "context_overflow"),
    Row("no tools", f"- {ASK}", "tools", terms={"tools": []}),
    Row(
        "budget spent",
        "- {shell: 'true', usage: {input_tokens: 80000}}\n"
        f"- {{shell: 'true', usage: {{input_tokens: 12000}}}}\n- {ASK}",
        "budget",
        "stopped",
        terms={"budget_usd": "0.20"},
    ),
    Row(
        "budget spent in mid-answer",
        "- {say: 'On and on.', padding: 200000, stream_s: 3}",
        "budget",
        "stopped",
        terms={"budget_usd": "0.20"},
        past_usd=UNSEEN_USD,
    ),
)


def scenario() -> str:
    """What the lodge's model plays: a conversation for each row, and those of `scenes`."""
    played = "".join(_conversation(row) for row in ROWS)
    return f"scenario: 1\nconversations:\n{played}{TOOLS.read_text()}{SCENES}{REST}"


def _conversation(row: Row) -> str:
    steps = row.steps if row.terms.get("tools") == [] else f"- mcp: get_task\n{row.steps}"
    indented = "".join(f"      {line}\n" for line in steps.splitlines())
    return (
        f"  - name: '{row.name}'\n"
        f"    when: {{prompt_contains: '{_title(row)}'}}\n"
        f"    steps:\n{indented}"
    )


SCENES = """\
  # Stays in its sandbox until it is told to go on.
  - name: stay
    when: {prompt_contains: "STAY"}
    steps:
      - shell: touch /tmp/here; for i in $(seq 1 600); do [ -e /tmp/go ] && exit 0; sleep 0.1; done
        timeout_s: 90
      - mcp: ask_questions
        arguments: {questions: ["What next?"]}
  - name: on with the conversation
    when: {prompt_contains: "was sent back", prompt_number: 2}
    capture: {word: 'the word is (\\w+)'}
    steps:
      - mcp: ask_questions
        arguments: {questions: ["On with {{word}}?"]}
  - name: a new conversation
    when: {prompt_contains: "was sent back"}
    capture: {word: 'the word is (\\w+)'}
    steps:
      - mcp: ask_questions
        arguments: {questions: ["Anew with {{word}}?"]}
  - name: hostile
    when: {prompt_contains: "HOSTILE"}
    steps:
      - shell: ls /tmp/pwned* ; env | grep ^EVIL=
        expect: {error: any, lacks: ["/tmp/pwned-", "EVIL="]}
      - mcp: ask_questions
        arguments: {questions: ["Clean?"]}
  - name: hand in
    when: {prompt_contains: "HAND IN"}
    steps:
      - mcp: submit_for_approval
        arguments: {summary: "Done."}
"""
"""What a person does in the middle of a run, or after it: see `scenes`."""

REST = """\
  # A harness that has shortened its conversation goes on here, and it doesn't fit again.
  - name: rest
    steps:
      - shell: 'true'
      - fail: overflow
"""


def how(run: Mapping[str, Any]) -> tuple[str, str]:
    """How a run ended, and of what."""
    return run["outcome"], run["cause"]


def whole(run: Mapping[str, Any]) -> str:
    """All of a run, for whoever must find out why it ended otherwise."""
    return json.dumps(run, indent=1)


def hire(lodge: House, program: Program, agent: str, **terms: Any) -> None:
    """An agent of this harness, with its usual model."""
    lodge.hire(agent, f"{program.provider}:{program.model}", program.name, **terms)


def begin(lodge: House, program: Program, row: Row) -> str:
    """Have a row played, by an agent of its own; gives its task."""
    agent = f"{program.short}-{row.name.replace(' ', '-')}"
    provider = f"nowhere-{program.provider}" if row.nowhere else program.provider
    lodge.hire(agent, f"{provider}:{program.model}", program.name, **row.terms)
    return lodge.task(_title(row), agent=agent, repository="")


def _title(row: Row) -> str:
    return f"ROW {row.name}."
