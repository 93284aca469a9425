"""What a push brings, and what that stands on."""

from entrance.git.checks.facts import Brought
from tests.unit.entrance.git.checks.pushes import NEW, OLD, a_commit, a_move

HOSTS, SECOND = "c" * 40, "d" * 40


def test_new_commits_stand_on_what_the_host_has() -> None:
    first = a_commit(SECOND, OLD)
    merge = a_commit(NEW, SECOND, parents=(SECOND, HOSTS))
    assert Brought((a_move(),), (first, merge)).onto == (OLD, HOSTS)


def test_a_branch_at_a_commit_that_the_host_has_stands_on_that() -> None:
    assert Brought((a_move(),)).onto == (NEW,)
