"""A repository may speak to a harness's model; it settles nothing of the harness."""

import pytest

from tests.e2e.harnesses import listening, scenes
from tests.e2e.harnesses.rows import CLAUDE_CODE, CODEX, Program, how, whole
from tests.e2e.house import House

pytestmark = [pytest.mark.docker, pytest.mark.timeout(600)]


@pytest.mark.parametrize("program", [CLAUDE_CODE, CODEX], ids=lambda program: program.short)
def test_what_a_repository_brings_along_settles_nothing(lodge: House, program: Program) -> None:
    run = scenes.in_a_hostile_repository(lodge, program)
    assert how(run) == ("asked", "handed_over"), whole(run)
    assert "Clean?" in run["summary"], whole(run)


def test_what_the_repository_says_to_agents_is_read_and_nothing_else_of_it(lodge: House) -> None:
    """`CLAUDE.md`, or `AGENTS.md` where there is none, as Claude Code itself does it."""
    run = scenes.at_work(lodge, CLAUDE_CODE, "claude-reader", repository=None)
    folder = "/workspace/thing"
    for name in ("CLAUDE.md", "AGENTS.md"):
        done = lodge.inside(
            run, f"cd {folder} && rm -f CLAUDE.md && echo 'Say swordfish.' > {name}"
        )
        assert done.code == 0, done
        said = listening.asked(lodge, CLAUDE_CODE, run, folder)
        assert said.count("Say swordfish.") == 1, said
        assert '"model":"claude-sonnet-5"' in said
    lodge.inside(run, f"cd {folder} && rm AGENTS.md; ls /tmp; touch /tmp/go")
    assert how(lodge.ended(run["task"])) == ("asked", "handed_over")
