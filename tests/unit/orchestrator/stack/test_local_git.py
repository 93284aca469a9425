"""Local repositories, named by their path."""

import subprocess
from pathlib import Path

import pytest

from orchestrator.domain.grants import door_name
from orchestrator.stack import local_git
from orchestrator.stack.installation import Installation
from orchestrator.stack.steps import StepFailed


@pytest.fixture
def here(tmp_path: Path) -> Installation:
    return Installation.open(tmp_path / "home", create=True)


def repository(path: Path, *, bare: bool = False) -> Path:
    path.mkdir(parents=True)
    subprocess.run(
        ["git", "init", "--quiet", *(["--bare"] if bare else []), str(path)], check=True, timeout=30
    )
    return path


def link_of(here: Installation, url: str) -> Path:
    """What the git host serves at the URL."""
    return here.data("githost") / url.removeprefix(f"{local_git.base_url(here)}/")


def test_a_clone_is_served_where_it_lies(here: Installation, tmp_path: Path) -> None:
    path = repository(tmp_path / "thing")
    url = local_git.publish(here, path)
    assert url.startswith(f"http://127.0.0.1:{here.ports.githost}/local/")
    assert url.endswith("/thing.git")
    assert link_of(here, url).resolve() == path / ".git"
    assert local_git.publish(here, path) == url, "again is the same"


def test_a_bare_repository_is_too(here: Installation, tmp_path: Path) -> None:
    path = repository(tmp_path / "thing.git", bare=True)
    url = local_git.publish(here, path)
    assert url.endswith("/thing.git")
    assert link_of(here, url).resolve() == path


def test_two_repositories_of_one_name_are_two(here: Installation, tmp_path: Path) -> None:
    one, two = repository(tmp_path / "a" / "thing"), repository(tmp_path / "b" / "thing")
    first, second = local_git.publish(here, one), local_git.publish(here, two)
    assert first != second
    assert link_of(here, first).resolve() != link_of(here, second).resolve()


@pytest.mark.parametrize(
    "name", ["my thing", "thing#1?x=y", "-rf", "..thing", "ünïcode", "日本", "a%2Fb", "a\nb"]
)
def test_any_folders_name_makes_a_url_that_can_be_granted(
    here: Installation, tmp_path: Path, name: str
) -> None:
    path = repository(tmp_path / "with blanks" / name)
    url = local_git.publish(here, path)
    assert door_name(url)
    assert link_of(here, url).resolve() == path / ".git"
    assert set(url) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:/._-")


def test_a_relative_path_and_a_link_name_the_same_repository(
    here: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = repository(tmp_path / "thing")
    (tmp_path / "link").symlink_to(path)
    monkeypatch.chdir(tmp_path)
    url = local_git.publish(here, path)
    assert local_git.publish(here, Path("thing")) == url
    assert local_git.publish(here, Path("link")) == url


@pytest.mark.parametrize("kind", ["nothing", "a folder", "a file", "half a repository"])
def test_what_is_no_repository_is_said_to_be_none(
    here: Installation, tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "thing"
    if kind == "a file":
        path.write_text("x")
    elif kind != "nothing":
        path.mkdir()
        if kind == "half a repository":
            (path / "HEAD").write_text("ref: refs/heads/main\n")
    with pytest.raises(StepFailed, match="is no git repository"):
        local_git.publish(here, path)
    assert not local_git.in_use(here)


def test_a_link_that_was_put_in_the_way_is_not_followed_for_writing(
    here: Installation, tmp_path: Path
) -> None:
    """Publishing makes one link in the installation, and changes nothing of the repository."""
    path = repository(tmp_path / "thing")
    before = sorted(file.name for file in path.rglob("*"))
    url = local_git.publish(here, path)
    link_of(here, url).unlink()
    (tmp_path / "elsewhere").mkdir()
    link_of(here, url).symlink_to(tmp_path / "elsewhere")
    assert local_git.publish(here, path) == url
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert sorted(file.name for file in path.rglob("*")) == before
    assert link_of(here, url).resolve() == path / ".git", "and it is put right"


def test_the_git_host_belongs_to_the_installation_once_it_serves_something(
    here: Installation, tmp_path: Path
) -> None:
    assert not local_git.in_use(here)
    local_git.publish(here, repository(tmp_path / "thing"))
    assert local_git.in_use(here)
