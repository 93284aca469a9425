"""Whose an agent's commits are."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from entrance.session import RunId
from orchestrator.domain.authors import as_git_writes, authorship_of, environment_of
from tests.fakes.run import a_run
from tests.fakes.world import AGENT


def test_a_run_may_push_its_own_commits_and_those_of_the_tasks_runs_before() -> None:
    run = a_run()
    authorship = authorship_of(AGENT, run, [RunId("earlier"), run.id])
    assert (authorship.name, authorship.mail) == ("Rex", "bot-rex@agents.sandgate.invalid")
    assert authorship.model == run.model
    assert authorship.runs == {run.id, "earlier"}


def test_git_and_our_hook_are_told_the_same() -> None:
    run = a_run()
    told = environment_of(authorship_of(AGENT, run), run)
    assert told["GIT_AUTHOR_NAME"] == told["GIT_COMMITTER_NAME"] == "Rex"
    assert (told["SANDGATE_RUN"], told["SANDGATE_TASK"]) == (run.id, run.task)
    assert told["SANDGATE_MODEL"] == run.model


def test_an_agent_whose_title_git_would_write_as_nothing_is_called_as_its_bot() -> None:
    assert authorship_of(replace(AGENT, title=" <> "), a_run()).name == "bot-rex"


@pytest.mark.parametrize(
    "title",
    [
        "Rex",
        " Rex, the 2nd. ",
        "R<2>D2",
        '"Rex"',
        "Rex\n<x@y>",
        "a'b",
        "\tRéx\x01",
        ":;Rex\\",
        "x. y",
    ],
)
def test_a_name_is_what_git_makes_of_it(title: str, tmp_path: Path) -> None:
    """The door compares it with what stands in a commit."""
    own = {"GIT_AUTHOR_NAME": title, "GIT_AUTHOR_EMAIL": f" {title}@x. ", "HOME": str(tmp_path)}
    said = subprocess.run(
        ["git", "var", "GIT_AUTHOR_IDENT"], env=own,
        capture_output=True, text=True, check=True, timeout=20,
    ).stdout  # fmt: skip
    assert said.startswith(f"{as_git_writes(title)} <{as_git_writes(own['GIT_AUTHOR_EMAIL'])}> ")
