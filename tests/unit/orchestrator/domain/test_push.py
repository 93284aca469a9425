"""A held push, as its item has it and people read it."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from entrance.errors import Malformed
from entrance.ports import Moved
from entrance.session import RepoGrant
from orchestrator.domain.approval import Approval, ApprovalState
from orchestrator.domain.kinds import EGRESS, KINDS, PUSH
from orchestrator.domain.push import (
    COMMITS_KEPT,
    LONGEST_REASON,
    REASONS_KEPT,
    Wanted,
    beside,
    claimed_by,
    grant_claimed,
    identity_of,
    may_still,
    not_there,
    title_of,
    wanted_from,
    wanted_json,
    wanted_of,
    what_happens,
)
from orchestrator.domain.team import Engagement, Grants, Repository
from tests.fakes.approvals import ITEM
from tests.fakes.clock import START
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


def test_an_item_of_which_something_is_missing_can_not_be_read() -> None:
    for name in wanted_json(ONE):
        told = {key: value for key, value in wanted_json(ONE).items() if key != name}
        with pytest.raises(Malformed, match="held push"):
            wanted_from(told)


def held(name: str, *refs: str, **changes: Any) -> Approval:
    moved = tuple(Moved(ref, ZERO, NEW) for ref in refs or (REF,))
    wanted = wanted_json(replace(ONE, moved=moved))
    return replace(ASKED, **{"id": name, "wanted": wanted, **changes})


def test_beside_a_push_are_the_open_ones_of_the_same_branch() -> None:
    others = [
        held("a"),
        held("b"),
        held("c", "refs/heads/agent/DEMO-7/other"),
        held("d", REF, state=ApprovalState.DENIED),
        held("e", REF, kind=EGRESS),
        held("f", "refs/heads/agent/DEMO-7/x", REF, state=ApprovalState.UNKNOWN),
    ]
    assert beside(others[0], others) == ["b", "f"]
    assert beside(ITEM, others) == []


def test_the_newest_push_of_a_branch_says_whether_it_is_there() -> None:
    later = START + timedelta(minutes=1)
    denied, taken = held("a", state=ApprovalState.DENIED), held("b", asked_at=later)
    taken = replace(taken, state=ApprovalState.RELEASED)
    assert not_there([ITEM]) == []
    (told,) = not_there([denied])
    assert "a was denied" in told
    assert not_there([taken, denied]) == []
    (told,) = not_there([replace(denied, asked_at=later), replace(taken, asked_at=START)])
    assert "was denied" in told


@pytest.mark.parametrize("state", {*KINDS[PUSH].after.values(), ApprovalState.WAITING})
def test_whatever_has_not_arrived_is_said(state: ApprovalState) -> None:
    assert bool(not_there([held("a", state=state)])) == (state is not ApprovalState.RELEASED)


def test_what_was_claimed_is_settled_by_the_same_grant() -> None:
    repository = Repository(REPOSITORY, credential="new")
    grant = still(ONE, replace(ENGAGEMENT, grants=Grants(repositories=(repository,))))
    assert isinstance(grant, RepoGrant)
    claimed = replace(ASKED, came=claimed_by(grant))
    assert grant_claimed(ONE, claimed) == replace(grant, pull_requests=False)


def test_many_branches_are_counted() -> None:
    moved = tuple(Moved(f"refs/heads/agent/DEMO-7/{n}", ZERO, NEW) for n in range(12))
    many = replace(ONE, moved=moved)
    assert "12 branches" in title_of(many)
    assert "and 2 more" in what_happens(many)
