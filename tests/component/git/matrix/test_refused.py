"""Pushes that are refused by what they ask for: git says why, and the host has heard of none."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from entrance.git.refs import NOT_ALONE
from tests.component.git.matrix import acts
from tests.component.git.matrix.acts import OWN, Act, after, run, to
from tests.component.git.matrix.promises import Host, pushes_at_host
from tests.component.git.matrix.ways import BODIES, PROTOCOLS, Options
from tests.servers.git import Door

UNDER = "this run may push only branches under agent/TASK-7/"
BRANCHES = "only branches may be pushed, under agent/TASK-7/"
THEIRS = "this namespace belongs to another task"
ILL_NAMED = "branch name not allowed"
NAMESPACE = "this name is a namespace"
OID = "1" * 40


@dataclass(frozen=True, slots=True)
class Row:
    """A push, and each of the reasons that git prints."""

    name: str
    arguments: tuple[str, ...]
    reasons: tuple[str, ...]
    before: Act = acts.commit
    options: Options = ()


REFS = (
    Row("main", ("HEAD:main",), (UNDER,)),
    Row("main by force", ("--force", "HEAD~3:main"), (UNDER,)),
    Row("a branch of people", ("HEAD:refs/heads/feature/x",), (UNDER,)),
    Row("a branch named HEAD", ("HEAD:refs/heads/HEAD",), (UNDER,)),
    Row("another case", ("HEAD:refs/heads/Agent/TASK-7/x",), (UNDER,)),
    Row("the task in another case", ("HEAD:refs/heads/agent/task-7/x",), (THEIRS,)),
    Row("another task's branch", ("HEAD:refs/heads/agent/TASK-8/theirs",), (THEIRS,)),
    Row("another task's new branch", ("HEAD:refs/heads/agent/TASK-8/x",), (THEIRS,)),
    Row("a task whose id goes on", ("HEAD:refs/heads/agent/TASK-77/x",), (THEIRS,)),
    Row("a task whose id is a beginning", ("HEAD:refs/heads/agent/TASK/x",), (THEIRS,)),
    Row("the namespace itself", (f"HEAD:{OWN}",), (NAMESPACE,)),
    Row("all namespaces", ("HEAD:refs/heads/agent",), (NAMESPACE,)),
    Row("a prefix that goes on", ("HEAD:refs/heads/agentx/TASK-7/x",), (UNDER,)),
    Row("a full name in a name", (f"HEAD:refs/heads/{OWN}/x",), (UNDER,)),
    Row("an option in a name", (to("--mirror"),), (ILL_NAMED,)),
    Row("a name in other letters", (to("\u0430"),), (ILL_NAMED,)),
    Row("a name of eight parts", (to("a/b/c/d/e/f/g/h"),), (ILL_NAMED,)),
    Row("a name that is long", (to("x" * 101),), (ILL_NAMED,)),
    Row("a tag", ("v1:refs/tags/v2",), ("tags may not be pushed",)),
    Row("a tag that moves", ("--force", "HEAD:refs/tags/v1"), ("tags may not be pushed",)),
    Row("a tag named as a branch", ("HEAD:refs/tags/agent/x",), ("tags may not be pushed",)),
    Row("all tags", ("--tags",), ("tags may not be pushed",), run("tag", "v9")),
    Row(
        "a tag that follows a branch",
        ("--follow-tags", to("fix")),
        ("tags may not be pushed", NOT_ALONE),
        after(acts.commit, run("tag", "-a", "-m", "x", "v9")),
    ),
    Row(
        "notes",
        ("refs/notes/commits",),
        ("notes may not be pushed",),
        run("notes", "add", "-m", "x"),
    ),
    Row("a replacement", (f"HEAD:refs/replace/{OID}",), (BRANCHES,)),
    Row("the stash", ("HEAD:refs/stash",), (BRANCHES,)),
    Row("remotes", ("HEAD:refs/remotes/origin/main",), (BRANCHES,)),
    Row("the agent's name beside branches", ("HEAD:refs/agent/TASK-7/x",), (BRANCHES,)),
    Row("GitHub's pull request", ("HEAD:refs/pull/1/head",), (BRANCHES,)),
    Row("GitLab's merge request", ("HEAD:refs/merge-requests/1/head",), (BRANCHES,)),
    Row("Gerrit's review", ("HEAD:refs/for/main",), (BRANCHES,)),
    Row("Gerrit's draft", ("HEAD:refs/drafts/main",), (BRANCHES,)),
    Row("Gerrit's change", ("HEAD:refs/changes/01/1/1",), (BRANCHES,)),
    Row("Gerrit's settings", ("HEAD:refs/meta/config",), (BRANCHES,)),
    Row("Bitbucket's pull request", ("HEAD:refs/pull-requests/1/from",), (BRANCHES,)),
    Row("GitLab's own refs", ("HEAD:refs/keep-around/x",), (BRANCHES,)),
    Row("a deletion", (":agent/TASK-7/earlier",), ("branches may not be deleted",), acts.nothing),
    Row("a deletion of main", ("--delete", "main"), (UNDER,), acts.nothing),
    Row("every branch", ("--all",), (UNDER,)),
    Row("a mirror of everything", ("--mirror",), (UNDER, "branches may not be deleted", BRANCHES)),
    Row("all that have a match", (":",), (UNDER,)),
    Row("a refused ref first", ("HEAD:main", to("fix")), (UNDER, NOT_ALONE)),
    Row("a refused ref last", (to("fix"), "HEAD:main"), (UNDER, NOT_ALONE)),
    Row(
        "several refused refs, each with its reason",
        ("HEAD:main", "v1:refs/tags/v2", to("--x"), to("fix")),
        (UNDER, "tags may not be pushed", ILL_NAMED, NOT_ALONE),
    ),
    Row("all or none, one refused", ("--atomic", to("fix"), "HEAD:main"), (UNDER,)),
)
BY_GIT = (
    Row("a signature", ("--signed=yes", to("fix")), ("does not support --signed",)),
    Row("an option", ("-o", "ci.skip", to("fix")), ("does not support push options",)),
)


async def assert_refused(at_door: Door, clone: Path, row: Row, options: Options) -> str:
    """Push it, and see it refused; what git prints."""
    asked = pushes_at_host(at_door)
    before = await at_door.refs()

    said = await at_door.git(*options, *row.options, "push", "origin", *row.arguments, cwd=clone)

    assert said.code != 0
    for reason in row.reasons:
        assert reason in said.text
    assert pushes_at_host(at_door) == asked
    assert await at_door.refs() == before
    return said.text


@pytest.mark.parametrize("row", REFS, ids=lambda row: row.name)
async def test_git_prints_why_it_was_refused(at_door: Door, clone: Path, row: Row) -> None:
    """CASE-41, CASE-42, CASE-43, CASE-45, CASE-47, CASE-52, CASE-53, CASE-54."""
    await row.before(at_door, clone)

    text = await assert_refused(at_door, clone, row, ())

    assert "[remote rejected]" in text
    assert "remote: sandgate: " in text
    assert "RPC failed" not in text
    assert "up-to-date" not in text
    decided = at_door.audit.decisions("git_push")[-1]
    assert decided.decision.word == "deny"
    assert all(update["refused"] for update in decided.detail["updates"])


@pytest.mark.parametrize("row", BY_GIT, ids=lambda row: row.name)
async def test_git_itself_says_what_the_door_does_not_offer(
    at_door: Door, clone: Path, row: Row
) -> None:
    """CASE-58: the host offers it; the door takes it out."""
    await row.before(at_door, clone)
    await assert_refused(at_door, clone, row, ())


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("body", BODIES)
async def test_a_large_push_is_refused_with_its_reason(
    at_door: Door, clone: Path, protocol: str, body: str
) -> None:
    """CASE-52: nothing was read that the answer had to wait for."""
    await acts.write_random(3_000_000)(at_door, clone)
    row = Row("large", ("HEAD:main",), (UNDER, "[remote rejected]"))
    await assert_refused(at_door, clone, row, (*PROTOCOLS[protocol], *BODIES[body]))


async def test_a_branch_that_is_an_alias_of_another_is_not_followed(
    at_door: Door, host: Host, clone: Path
) -> None:
    """CASE-46: receive-pack would move main."""
    await host.git("symbolic-ref", f"{OWN}/alias", "refs/heads/main")
    await acts.commit(at_door, clone)
    await assert_refused(at_door, clone, Row("alias", (to("alias"),), ("alias of another",)), ())
