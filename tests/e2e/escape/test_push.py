"""A run pushes its own branches forward, in its task's repository, and nothing else."""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.e2e.escape.agent import Agent
from tests.e2e.escape.wire import OWN, Ask, send
from tests.e2e.house import House

pytestmark = [pytest.mark.docker, pytest.mark.timeout(180)]

ZERO = "0" * 40
ELSEWHERE = "may push only branches under agent/{item}/"
PUSHES = {
    "main": ("HEAD:refs/heads/main", ELSEWHERE),
    "main, by force": ("+orphan:refs/heads/main", ELSEWHERE),
    "main away": (":refs/heads/main", ELSEWHERE),
    "a tag": ("HEAD:refs/tags/v1", "tags may not be pushed"),
    "notes": ("HEAD:refs/notes/commits", "notes may not be pushed"),
    "a ref of the host's": ("HEAD:refs/pull/1/head", "only branches may be pushed"),
    "a branch of nobody's": ("HEAD:refs/heads/feature", ELSEWHERE),
    "the agents' namespace": ("HEAD:refs/heads/agent", "this name is a namespace"),
    "its own namespace": ("HEAD:refs/heads/agent/{item}", "this name is a namespace"),
    "another task's branch": ("HEAD:refs/heads/agent/DEMO-999/work", "belongs to another task"),
    "another's, by force": ("+orphan:refs/heads/agent/DEMO-999/work", "belongs to another task"),
    "a longer item": ("HEAD:refs/heads/agent/{item}0/work", "belongs to another task"),
    "another case": ("HEAD:refs/heads/Agent/{item}/work", ELSEWHERE),
    "its own branch away": (":refs/heads/agent/{item}/own", "branches may not be deleted"),
    "an alias of main": ("HEAD:refs/heads/agent/{item}/alias", "an alias of another"),
    "a good one beside main": (
        "HEAD:refs/heads/agent/{item}/good HEAD:refs/heads/main",
        ELSEWHERE,
    ),
}
FORGED = {
    "no run": ("SANDGATE_RUN=", "doesn't say which run made it"),
    "another task's run": ("SANDGATE_RUN=a-run-of-somebody", "Agent-Run of another task"),
    "another task": ("SANDGATE_TASK=DEMO/DEMO-999", "another Agent-Task"),
    "another model": ("SANDGATE_MODEL=anthropic:a-better-one", "another Agent-Model"),
    "another committer": ("GIT_COMMITTER_NAME=Ada", "made in another's name"),
}
RAW_REFS = ("refs/heads/agent/{item}/../../main", "refs/heads/agent/{item}//main", "HEAD", "main")


@dataclass(frozen=True, slots=True)
class Host:
    """The git host's own sight of the repository."""

    house: House

    def git(self, *arguments: str) -> str:
        path = self.house.stage.repository.path
        command = ["git", "-c", "safe.directory=*", "-C", str(path), *arguments]
        return subprocess.run(command, capture_output=True, check=True, text=True).stdout

    def refs(self) -> str:
        return self.git("for-each-ref")


@pytest.fixture(scope="module")
def host(mole: Agent) -> Iterator[Host]:
    """A host with the mole's own branch, another task's branch, and an alias of main in its namespace.

    That the mole can push at all is the first thing it shows.
    """
    host = Host(mole.house)
    pushed = mole.do(
        "git commit -q --allow-empty -m 'work' && git branch -f orphan $(git commit-tree -m x HEAD^{tree})"
        f" && git push -q origin HEAD:refs/heads/agent/{mole.item}/own"
    )
    assert pushed.code == 0, pushed.output
    assert f"agent/{mole.item}/own" in host.refs()
    alias = f"refs/heads/agent/{mole.item}/alias"
    host.git("symbolic-ref", alias, "refs/heads/main")
    host.git("update-ref", "refs/heads/agent/DEMO-999/work", "main")
    yield host
    host.git("symbolic-ref", "--delete", alias)


@pytest.mark.parametrize("push", PUSHES)
def test_a_forbidden_push_changes_nothing(mole: Agent, host: Host, push: str) -> None:
    """No push to main, tags, notes, namespaces, others' branches, aliases, and no deletion; git says why."""
    refs, reason = (text.format(item=mole.item) for text in PUSHES[push])
    before = host.refs()
    tried = mole.attempt(lambda: mole.do(f"git push origin {refs}"))
    assert tried.got.code != 0
    assert reason in tried.got.output
    assert reason in tried.refused_once("git_push")["reason"]
    assert host.refs() == before


@pytest.mark.parametrize("ref", RAW_REFS)
def test_a_ref_that_git_would_not_send_is_refused(mole: Agent, host: Host, ref: str) -> None:
    """A push put together by hand gets no further: paths that climb, and names that are no branch."""
    before = host.refs()
    name = ref.format(item=mole.item)
    command = f"{ZERO} {host.git('rev-parse', 'main').strip()} {name}\0report-status"
    push = f"POST /git/127.0.0.1:{mole.house.here.ports.githost}/team/thing.git/git-receive-pack"
    kind = "Content-Type: application/x-git-receive-pack-request"
    ask = Ask(push, f"{len(command) + 4:04x}{command}0000", (OWN, kind))
    tried = mole.attempt(lambda: send(mole, ask))
    assert f"ng {name} " in tried.got[0]
    tried.refused_once("git_push")
    assert host.refs() == before


@pytest.mark.parametrize("claim", FORGED)
def test_a_commit_that_claims_to_come_from_elsewhere_is_refused(
    mole: Agent, host: Host, claim: str
) -> None:
    """A commit that names no run, or another's run, task, model or name, is refused."""
    variable, reason = FORGED[claim]
    before = host.refs()
    push = f"git push origin HEAD:refs/heads/agent/{mole.item}/forged"
    commit = f"{variable} git commit -q --allow-empty -m forged"
    script = (
        f"git checkout -q --detach && {commit} && {push}; code=$?; git checkout -q -; exit $code"
    )
    tried = mole.attempt(lambda: mole.do(script))
    assert tried.got.code != 0
    assert reason in tried.got.output
    assert reason in tried.refused_once("git_push")["reason"]
    assert host.refs() == before


def test_history_is_not_rewritten(mole: Agent, host: Host) -> None:
    """A force push over a run's own branch is refused at the door, before the host hears of it."""
    before = host.refs()
    ref = f"refs/heads/agent/{mole.item}/own"
    tried = mole.attempt(lambda: mole.do(f"git push --force origin orphan:{ref}"))
    assert tried.got.code != 0
    assert "would lose commits" in tried.got.output
    assert "would lose commits" in tried.refused_once("git_push")["reason"]
    assert host.refs() == before


def test_a_repository_that_is_granted_for_fetching_takes_no_push(
    neighbour: Agent, host: Host
) -> None:
    """An agent that was hired to read reads; its push is refused before the host hears of it."""
    assert neighbour.do("git fetch origin").code == 0
    before = host.refs()
    push = f"git push origin HEAD:refs/heads/agent/{neighbour.item}/work"
    tried = neighbour.attempt(lambda: neighbour.do(push))
    assert tried.got.code != 0
    assert "for fetching, not for pushing" in tried.refused_once("git_push")["reason"]
    assert host.refs() == before
