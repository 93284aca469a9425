"""A held push, as its item has it and people read it."""

from dataclasses import replace

import pytest

from entrance.ports import Moved
from entrance.session import RepoGrant
from orchestrator.domain.push import (
    COMMITS_KEPT,
    LONGEST_REASON,
    REASONS_KEPT,
    Wanted,
    identity_of,
    may_still,
    title_of,
    wanted_from,
    wanted_json,
    wanted_of,
    what_happens,
)
from orchestrator.domain.team import Engagement, Grants, Repository
from tests.fakes.approvals import ITEM
from tests.fakes.pushes import NEW, OLD, OTHER, REF, ZERO, a_push
from tests.fakes.run import a_run
from tests.fakes.world import AGENT, ENGAGEMENT, REPOSITORY, TASK

ONE = wanted_of(a_push(a_run()))
ASKED = replace(ITEM, kind="push", task=TASK.id)


def test_it_comes_back_from_its_item_as_it_was() -> None:
    assert wanted_from(wanted_json(ONE)) == ONE


def test_an_item_has_the_end_of_a_long_history_and_the_beginning_of_long_words() -> None:
    commits = tuple(f"{number:040x}" for number in range(COMMITS_KEPT + 5))
    reasons = tuple("why\n" * 1000 for _ in range(REASONS_KEPT + 5))
    kept = wanted_of(a_push(a_run(), commits=commits, reasons=reasons))
    assert (kept.commits, kept.commits_in_all) == (commits[5:], COMMITS_KEPT + 5)
    assert len(kept.reasons) == REASONS_KEPT
    assert all(len(one) <= LONGEST_REASON and "\n" not in one for one in kept.reasons)


def test_the_same_moves_are_the_same_push_however_they_are_packed() -> None:
    second = Moved("refs/heads/agent/DEMO-7/more", ZERO, OTHER)
    both = replace(ONE, moved=(ONE.moved[0], second), sha256="x", kept="y")
    assert identity_of(both) == identity_of(replace(both, moved=(second, ONE.moved[0]), sha256="z"))
    assert identity_of(both) != identity_of(ONE)
    assert identity_of(ONE) != identity_of(replace(ONE, repository="other"))


def test_people_read_which_branch_goes_from_where_to_where_at_which_host() -> None:
    moved = replace(ONE, moved=(Moved(REF, OLD, NEW),), commits_in_all=3)
    assert title_of(moved) == f"push agent/DEMO-7/fix to {ONE.repository}, 3 commits"
    happens = what_happens(moved)
    for words in (REPOSITORY, "agent/DEMO-7/fix", OLD[:12], NEW[:12], f"{ONE.size_bytes} bytes"):
        assert words in happens
    assert "(new)" in what_happens(ONE)


def still(one: Wanted, engagement: Engagement | None = ENGAGEMENT) -> RepoGrant | str:
    return may_still(one, ASKED, engagement=engagement, agent=AGENT, task=TASK)


def test_it_is_sent_by_the_grant_that_there_is_now() -> None:
    repository = Repository(REPOSITORY, credential="new")
    grant = still(ONE, replace(ENGAGEMENT, grants=Grants(repositories=(repository,))))
    assert isinstance(grant, RepoGrant)
    assert (grant.url, grant.credential, grant.push) == (REPOSITORY, "new", True)


@pytest.mark.parametrize(
    ("ref", "word"),
    [
        ("refs/heads/main", "agent/DEMO-7/"),
        ("refs/heads/agent/DEMO-9/x", "another task"),
        ("refs/tags/v1", "tags"),
    ],
)
def test_the_rules_for_branches_are_asked_again(ref: str, word: str) -> None:
    why = still(replace(ONE, moved=(Moved(ref, ZERO, NEW),)))
    assert isinstance(why, str)
    assert word in why


def test_only_the_tasks_own_repository_is_pushed_to() -> None:
    task = replace(TASK, repository="http://git.example:9000/team/other.git")
    why = may_still(ONE, ASKED, engagement=ENGAGEMENT, agent=AGENT, task=task)
    assert isinstance(why, str)
    assert "not granted for pushing" in why
