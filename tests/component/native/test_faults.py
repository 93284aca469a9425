"""What the model's provider can do wrong, in every dialect: one table."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.component.native.talking import conversation
from tests.fakes.door import Door, break_off, scenario, status

MODELS = ("anthropic:m", "openai:m", "google:m")
SAYS = "\n      - say: at last\n"
SILENCE_S = 0.5


@dataclass(frozen=True)
class Fault:
    """What goes wrong, and what the run makes of it. `delay_s`: the one pause before it is asked again."""

    fail: str
    reason: str = "completed"
    detail: str = "at last"
    delay_s: float | None = None


FAULTS = {
    "400": Fault("400", "error", "400: scripted failure"),
    "401": Fault("401", "error", "401: scripted failure"),
    "402": Fault("402", "error", "402: scripted failure"),
    "403": Fault("403", "error", "403: scripted failure"),
    "404": Fault("404", "error", "404: scripted failure"),
    "429, soon": Fault("429\n        times: 1\n        retry_after_s: 0.2", delay_s=0.2),
    "429, who knows": Fault("429\n        times: 1", delay_s=0.5),
    "429, tomorrow": Fault(
        "429\n        retry_after_s: 3600",
        "error",
        "429: scripted failure (to be tried again in 3600 s: too long to wait)",
    ),
    "500": Fault("500\n        times: 1", delay_s=0.5),
    "503": Fault("503\n        times: 1", delay_s=0.5),
    "529": Fault("529\n        times: 1", delay_s=0.5),
    "cut": Fault("cut\n        times: 1", delay_s=0.5),
    "stall": Fault("stall\n        times: 1", delay_s=0.5),
    "garbage": Fault("garbage\n        times: 1", delay_s=0.5),
    "empty": Fault("empty\n        times: 1", delay_s=0.5),
    "overflow": Fault("overflow", "context", "400: "),
}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("fault", [pytest.param(fault, id=name) for name, fault in FAULTS.items()])
async def test_a_fault_is_waited_out_or_ends_the_run(
    tmp_path: Path, fault: Fault, model: str
) -> None:
    door = Door(scenario(f"      - fail: {fault.fail}{SAYS}"))
    said = await conversation(door, tmp_path, model, silence_s=SILENCE_S)
    assert said.reason == fault.reason
    assert said.detail.startswith(fault.detail)
    waits = [] if fault.delay_s is None else [fault.delay_s]
    assert [retry["delay_s"] for retry in said.of("retry")] == waits
    asked = [path for path, _ in door.requests if path == "/model"]
    assert len(asked) == 1 + len(waits)


@pytest.mark.parametrize("model", MODELS)
async def test_a_connection_that_breaks_before_any_answer_is_made_anew(
    tmp_path: Path, model: str
) -> None:
    door = Door(scenario(SAYS), faults={"/model": [break_off]})
    said = await conversation(door, tmp_path, model)
    assert said.detail == "at last"
    assert [retry["delay_s"] for retry in said.of("retry")] == [0.5]


@pytest.mark.parametrize("model", MODELS)
async def test_the_gateways_own_refusal_is_said_in_its_words(tmp_path: Path, model: str) -> None:
    """CASE-101: one request, then the end."""
    door = Door(scenario(SAYS), faults={"/model": [status(403, "the budget is used up")]})
    said = await conversation(door, tmp_path, model)
    assert (said.reason, said.detail) == ("error", "403: the budget is used up")
    assert said.of("retry") == []


@pytest.mark.parametrize("dialect", ["anthropic", "openai", "google"])
async def test_a_company_gateway_has_a_name_and_a_dialect_of_its_own(
    tmp_path: Path, dialect: str
) -> None:
    door = Door(scenario(SAYS))
    said = await conversation(door, tmp_path, "house:m", dialect)
    assert (said.reason, said.detail) == ("completed", "at last")


@pytest.mark.parametrize("model", MODELS)
async def test_tokens_of_every_kind_are_counted_once(tmp_path: Path, model: str) -> None:
    usage = "{input_tokens: 100, cache_read_tokens: 900, output_tokens: 70, reasoning_tokens: 50}"
    door = Door(scenario(f"      - say: well\n        usage: {usage}\n"))
    (used,) = (await conversation(door, tmp_path, model)).of("usage")
    assert {key: value for key, value in used.items() if key.endswith("tokens")} == {
        "input_tokens": 100,
        "output_tokens": 70,
        "cache_read_tokens": 900,
        "cache_write_tokens": 0,
    }


@pytest.mark.parametrize("model", MODELS)
async def test_calls_of_one_answer_find_their_results_and_thoughts_go_on(
    tmp_path: Path, model: str
) -> None:
    steps = """
      - parallel:
          - shell: echo one
            expect: {error: false, contains: one}
          - shell: exit 3
            expect: {error: true, contains: Exit code 3}
          - mcp: get_task
            expect: get_task done
        usage: {reasoning_tokens: 20}
      - shell: echo two
        expect: two
      - say: all as expected
"""
    said = await conversation(Door(scenario(steps)), tmp_path, model)
    assert (said.reason, said.detail) == ("completed", "all as expected")
    assert len(said.of("tool_result")) == 4
