"""Claude Code, the real program in real sandboxes: every way its model, its tools and people can end it."""

import pytest

from tests.e2e.harnesses import listening, scenes
from tests.e2e.harnesses.rows import CLAUDE_CODE, PATIENCE_S, Begun, Row, how, rows_for, whole
from tests.e2e.house import House

pytestmark = [pytest.mark.docker, pytest.mark.timeout(600)]
PROGRAM = CLAUDE_CODE


@pytest.mark.parametrize("row", rows_for(PROGRAM), ids=lambda row: row.name)
def test_a_run_ends_as_its_row_says(lodge: House, begun: Begun, row: Row) -> None:
    row.check(lodge.ended(begun[PROGRAM.short, row.name], PATIENCE_S))


def test_a_person_who_cancels_it_stops_it(lodge: House) -> None:
    run = scenes.cancelled(lodge, PROGRAM)
    assert how(run) == ("stopped", "cancelled"), whole(run)
    assert run["evidence"].get("said", {}).get("reason") == "interrupted", whole(run)


@pytest.mark.parametrize(
    ("signal", "cause", "code"), [("INT", "no_handover", 0), ("TERM", "harness_error", 143)]
)
def test_a_signal_from_inside_is_no_success(
    lodge: House, signal: str, cause: str, code: int
) -> None:
    """CASE-98: it exits with 0 after SIGINT."""
    run = scenes.signalled(lodge, PROGRAM, signal)
    assert how(run) == ("failed", cause), whole(run)
    assert run["evidence"]["exit"]["code"] == code, whole(run)


def test_what_is_sent_back_goes_on_in_the_same_conversation(lodge: House) -> None:
    first, second = scenes.sent_back(lodge, PROGRAM)
    assert (second["outcome"], second["trigger"]) == ("asked", "sent_back"), whole(second)
    assert "On with penguin?" in second["summary"]
    assert scenes.conversation(lodge, first) == scenes.conversation(lodge, second)


def test_a_conversation_that_is_gone_is_begun_anew(lodge: House) -> None:
    _, second = scenes.sent_back(lodge, PROGRAM, scenes.lost)
    assert (second["outcome"], second["trigger"]) == ("asked", "sent_back"), whole(second)
    assert "Anew with penguin?" in second["summary"]


def test_what_a_repository_brings_along_settles_nothing(lodge: House) -> None:
    run = scenes.in_a_hostile_repository(lodge, PROGRAM)
    assert how(run) == ("asked", "handed_over"), whole(run)
    assert "Clean?" in run["summary"], whole(run)


def test_what_the_repository_says_to_agents_is_read_and_nothing_else_of_it(lodge: House) -> None:
    """`CLAUDE.md`, or `AGENTS.md` where there is none, as the program itself does it."""
    run = scenes.at_work(lodge, PROGRAM, f"{PROGRAM.short}-reader", repository=None)
    folder = "/workspace/thing"
    for name in ("CLAUDE.md", "AGENTS.md"):
        done = lodge.inside(
            run, f"cd {folder} && rm -f CLAUDE.md && echo 'Say swordfish.' > {name}"
        )
        assert done.code == 0, done
        said = listening.asked(lodge, PROGRAM, run, folder)
        assert said.count("Say swordfish.") == 1, said
        assert '"model":"claude-sonnet-5"' in said
    lodge.inside(run, f"cd {folder} && rm AGENTS.md; ls /tmp; touch /tmp/go")
    assert how(lodge.ended(run["task"])) == ("asked", "handed_over")
