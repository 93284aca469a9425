"""What ends a harness from outside of its model: people, and signals from inside its sandbox."""

import pytest

from tests.e2e.harnesses import scenes
from tests.e2e.harnesses.rows import CLAUDE_CODE, CODEX, NATIVE, Program, how, whole
from tests.e2e.house import House

pytestmark = [pytest.mark.docker, pytest.mark.timeout(600)]


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        pytest.param(CLAUDE_CODE, "interrupted", id="claude_code"),
        pytest.param(CODEX, None, id="codex ends without a word"),
        pytest.param(NATIVE[0], "interrupted", id="native"),
    ],
)
def test_a_person_who_cancels_it_stops_it(
    lodge: House, program: Program, reason: str | None
) -> None:
    run = scenes.cancelled(lodge, program)
    assert how(run) == ("stopped", "cancelled"), whole(run)
    assert run["evidence"].get("said", {}).get("reason") == reason, whole(run)


@pytest.mark.parametrize(
    ("program", "signal", "cause", "code"),
    [
        pytest.param(CLAUDE_CODE, "INT", "no_handover", 0, id="CASE-98 claude_code ends with 0"),
        pytest.param(CLAUDE_CODE, "TERM", "harness_error", 143, id="claude_code, TERM"),
        pytest.param(CODEX, "INT", "harness_error", 1, id="CASE-99 codex is not PID 1, INT"),
        pytest.param(CODEX, "TERM", "harness_error", 143, id="CASE-99 codex is not PID 1, TERM"),
        pytest.param(NATIVE[0], "INT", "harness_error", 1, id="native, INT"),
        pytest.param(NATIVE[0], "TERM", "harness_error", 1, id="native, TERM"),
    ],
)
def test_a_signal_from_inside_is_no_success(
    lodge: House, program: Program, signal: str, cause: str, code: int
) -> None:
    run = scenes.signalled(lodge, program, signal)
    assert how(run) == ("failed", cause), whole(run)
    assert run["evidence"]["exit"]["code"] == code, whole(run)
