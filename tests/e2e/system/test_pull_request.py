"""From a GitHub App's key to a pull request, by the command line alone."""

from pathlib import Path

import pytest

from orchestrator.stack.bare_repository import create_bare_repository
from tests.e2e.conftest import FILES
from tests.e2e.house import House
from tests.servers.githosts.github import APP, GitHub, app_key, github_in_a_thread
from tests.servers.githosts.serving import Repo

pytestmark = [pytest.mark.docker, pytest.mark.timeout(240)]
NAME = "team/thing"


def _host(folder: Path) -> GitHub:
    files = folder / "files"
    files.mkdir()
    for name, content in FILES.items():
        (files / name).write_text(content)
    (folder / "team").mkdir()
    create_bare_repository(files, folder / f"{NAME}.git", message="First")
    return GitHub(repos={NAME: Repo()}, installations={NAME: 77}, git=folder)


def test_what_an_agent_submits_is_a_pull_request_at_its_host(house: House, tmp_path: Path) -> None:
    host, pem = _host(tmp_path), app_key()[0]
    with github_in_a_thread(host) as base:
        url = f"{base}/{NAME}.git"
        app = ("--kind", f"github-app:{APP}", "--host", base)
        house.sandgate("secret", "set", "hub-of-the-test", *app, stdin=pem)
        house.sandgate("agent", "create", "proposer", "--model", "anthropic:claude-sonnet-5")
        terms = ("--project", "DEMO", "--supervisor", "lead", "--budget", "20")
        repository = f"{url}=hub-of-the-test,host=github,api={base}"
        house.sandgate("hire", "proposer", *terms, "--repo", repository)

        task = house.task("Say which task it was", repository=url, agent="proposer")
        run = house.ended(task)

    assert run["outcome"] == "submitted", run
    branch = f"agent/{task.partition('/')[2]}/work"
    (pull,) = host.repos[NAME].pulls
    assert (pull.head, pull.base) == (branch, "main")
    assert run["pull_request"]["url"] == f"https://github.com/{NAME}/pull/1"
    for words in (
        "- `thing.py`",
        "> Done.",
        f"| run | `{run['id']}` |",
        f"| branch | `{branch}` |",
    ):
        assert words in pull.body
    shown = house.sandgate("task", "show", task).stdout
    assert f"Pull request of run {run['id']}" in shown
    assert run["pull_request"]["url"] in shown
    assert not host.tokens, "all are revoked"
    assert host.revoked
