"""What is known of a repository's host."""

import pytest

from orchestrator.domain.hosting import Hosting, hosting_of
from orchestrator.domain.team import Repository

CORP = "https://git.corp.example"


@pytest.mark.parametrize(
    ("repository", "hosting"),
    [
        pytest.param(
            Repository("https://github.com/team/thing.git"),
            Hosting("github", "https://api.github.com", "team/thing"),
            id="github.com goes without saying",
        ),
        pytest.param(
            Repository("https://gitlab.com/group/sub/thing"),
            Hosting("gitlab", "https://gitlab.com/api/v4", "group/sub/thing"),
            id="gitlab.com, with a subgroup",
        ),
        pytest.param(
            Repository("https://codeberg.org/team/thing.git"),
            Hosting("gitea", "https://codeberg.org/api/v1", "team/thing"),
            id="a Forgejo",
        ),
        pytest.param(Repository(f"{CORP}/team/thing.git"), Hosting(), id="nothing is known"),
        pytest.param(
            Repository("https://github.com/team/thing.git", host="plain"),
            Hosting(),
            id="said to be plain",
        ),
        pytest.param(
            Repository(f"{CORP}/team/thing.git", host="github"),
            Hosting("github", f"{CORP}/api/v3", "team/thing"),
            id="an Enterprise server",
        ),
        pytest.param(
            Repository(f"{CORP}/git/team/thing.git", host="gitea", api=f"{CORP}/git/api/v1/"),
            Hosting("gitea", f"{CORP}/git/api/v1", "team/thing"),
            id="below a path",
        ),
        pytest.param(
            Repository("http://127.0.0.1:3000/a/b.git", host="gitea"),
            Hosting("gitea", "http://127.0.0.1:3000/api/v1", "a/b"),
            id="plain http with a port",
        ),
        pytest.param(
            Repository("https://github.com/one-part"), Hosting(), id="a guess that doesn't fit"
        ),
    ],
)
def test_a_host_is_what_was_said_or_goes_without_saying(
    repository: Repository, hosting: Hosting
) -> None:
    assert hosting_of(repository) == hosting


@pytest.mark.parametrize(
    "repository",
    [
        pytest.param(Repository(f"{CORP}/thing.git", host="github"), id="no owner"),
        pytest.param(Repository(f"{CORP}/a/b/c.git", host="gitea"), id="too many parts"),
        pytest.param(Repository(f"{CORP}/a/b", api=f"{CORP}/api"), id="an API of nobody"),
        pytest.param(
            Repository(f"{CORP}/a/b", host="gitea", api="https://u:p@x/api/v1"), id="a user"
        ),
        pytest.param(
            Repository(f"{CORP}/a/b", host="gitea", api="https://x/api?y=1"), id="a query"
        ),
        pytest.param(Repository(f"{CORP}/a/b", host="gitea", api="file:///etc"), id="no http"),
        pytest.param(Repository(f"{CORP}/a/b%2Fc", host="github"), id="an encoded slash"),
        pytest.param(Repository(f"{CORP}/a/..", host="gitlab"), id="a way up"),
    ],
)
def test_what_cannot_be_is_refused_when_it_is_said(repository: Repository) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        hosting_of(repository)
