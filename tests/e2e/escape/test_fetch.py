"""A run fetches the repositories that it was granted, under the names that were granted."""

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from tests.e2e.escape.agent import Agent
from tests.e2e.escape.wire import OWN, Ask, send, status

pytestmark = [pytest.mark.docker, pytest.mark.timeout(180)]

OTHERS = {
    "by its name": "/git/{host}/team/other.git",
    "without .git": "/git/{host}/team/other",
    "climbing": "/git/{host}/team/thing.git/../other.git",
    "climbing, encoded": "/git/{host}/team/thing.git/%2e%2e/other.git",
    "climbing, slashes encoded": "/git/{host}/team/thing.git%2f..%2fother.git",
    "climbing, encoded twice": "/git/{host}/team/thing.git/%252e%252e/other.git",
    "double slashes": "/git/{host}//team//other.git",
    "double slashes, the granted one": "/git/{host}/team//thing.git",
    "another case": "/git/{host}/TEAM/THING.git",
    "another name of the host": "/git/localhost:{port}/team/other.git",
    "a user before the host": "/git/x@{host}/team/other.git",
    "a host after the host": "/git/{host}/team/thing.git@127.0.0.1/other.git",
    "a null byte": "/git/{host}/team/thing.git%00/../other.git",
    "a folder above": "/git/{host}/team",
    "the host": "/git/{host}",
}


@dataclass(frozen=True, slots=True)
class Fetch:
    """The answers to both requests of a fetch, and what was recorded of them."""

    answers: Sequence[str]
    lines: Sequence[Mapping[str, Any]]


@pytest.fixture(scope="module")
def fetched(mole: Agent) -> Mapping[str, Fetch]:
    """Each way tried, with a repository on the host that nobody was granted."""
    house = mole.house
    other = house.here.data("githost") / "team" / "other.git"
    if not other.exists():
        thing = str(house.stage.repository.path)
        subprocess.run(["git", "clone", "-q", "--bare", thing, str(other)], check=True)
    port = house.here.ports.githost
    kind = "Content-Type: application/x-git-upload-pack-request"
    asked: list[Ask] = []
    for path in OTHERS.values():
        full = path.format(host=f"127.0.0.1:{port}", port=port)
        asked.append(Ask(f"GET {full}/info/refs?service=git-upload-pack"))
        asked.append(Ask(f"POST {full}/git-upload-pack", "0000", (OWN, kind)))
    tried = mole.attempt(lambda: send(mole, *asked))
    return {
        name: Fetch(tried.got[2 * n : 2 * n + 2], tried.lines[2 * n : 2 * n + 2])
        for n, name in enumerate(OTHERS)
    }


@pytest.mark.parametrize("way", OTHERS)
def test_a_repository_that_was_not_granted_is_not_fetched(
    fetched: Mapping[str, Fetch], way: str
) -> None:
    """Only what was granted is served, under the one name that was granted: no path leads around it."""
    tried = fetched[way]
    assert [status(answer) for answer in tried.answers] == [403, 403]
    assert not any("refs/heads/main" in answer for answer in tried.answers)
    assert [line["decision"] for line in tried.lines] == ["deny", "deny"]
    assert all("is not granted" in line["reason"] for line in tried.lines)


def test_the_other_repository_is_there_for_who_may_have_it(
    mole: Agent, fetched: Mapping[str, Fetch]
) -> None:
    """With the real credential, which no sandbox has, what was refused would have been served."""
    assert fetched
    house = mole.house
    password = house.stage.git_password.read_text()
    url = house.stage.git_host.replace("://", f"://sandgate:{password}@")
    for repository in ("other", "thing"):
        command = ["git", "ls-remote", f"{url}/team/{repository}.git"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert "refs/heads/main" in done.stdout


@pytest.mark.parametrize("path", ["config", "HEAD", "objects/info/packs", "info/lfs/locks"])
def test_no_file_of_a_granted_repository_is_served(mole: Agent, path: str) -> None:
    """Of a granted repository, git's smart HTTP is served: no file of its folder, no LFS."""
    where = f"/git/127.0.0.1:{mole.house.here.ports.githost}/team/thing.git/{path}"
    tried = mole.attempt(lambda: send(mole, Ask(f"GET {where}")))
    assert status(tried.got[0]) == 403
    assert "smart HTTP only" in tried.refused_once("request")["reason"]
