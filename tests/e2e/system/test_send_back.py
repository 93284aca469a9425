"""Work is sent back: the next run goes on in the same conversation, and the model sees what was said."""

import time
from typing import Any

import pytest

from tests.e2e.supervisor import decide
from tests.e2e.system.theatre import CASTS, Theatre

pytestmark = [pytest.mark.docker, pytest.mark.timeout(300)]
WORDS = "Name the fix in the version history, please"
PATIENCE_S = 240.0


@pytest.mark.parametrize("cast", CASTS)
def test_what_is_sent_back_is_mended_in_the_same_conversation(theatre: Theatre, cast: str) -> None:
    first = theatre.played(cast)
    task, item = first["task"], first["task"].partition("/")[2]

    decide(theatre, task, "send_back", WORDS)

    run = _next_run(theatre, task, first["run"])
    assert (run["outcome"], run["cause"], run["trigger"]) == (
        "submitted",
        "handed_over",
        "sent_back",
    ), run
    again = [one for one in theatre.served(item) if one["conversation"] == "feedback"]
    assert {one["prompt"] for one in again} == {2}, "the earlier conversation came with it"
    assert {one["names"]["wish"] for one in again} == {WORDS}
    for kind in ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"):
        assert sum(one[kind] for one in again) == run["usage"][kind], kind


def _next_run(theatre: Theatre, task: str, before: str) -> dict[str, Any]:
    """The run after `before`, once it has ended."""
    until = time.monotonic() + PATIENCE_S
    while True:
        run: dict[str, Any] = theatre.ask(f"/api/runs?task={task}")[0]
        if run["id"] != before and run["state"] == "ended":
            return run
        assert time.monotonic() < until, f"no run after {before}: {run}"
        time.sleep(0.2)
