"""The script that plants honeytokens, run by a real shell."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from entrance.honeytokens.canaries import HOME, canaries_of, files_of
from entrance.session import RunId
from orchestrator.runner.planting import PLANT


def plant(home: Path, run: str) -> Mapping[Path, str]:
    """Plant a run's canaries below `home`; what should be there then."""
    files = files_of(canaries_of(b"k" * 32, RunId(run)))
    wanted = {Path(path.replace(HOME, str(home))): text for path, text in files.items()}
    env = {"PATH": os.defpath, "COUNT": str(len(wanted))}
    for number, (path, text) in enumerate(wanted.items()):
        env |= {f"PATH_{number}": str(path), f"TEXT_{number}": text}
    subprocess.run(["sh", "-c", PLANT], env=env, check=True)
    return wanted


def test_the_files_are_written_for_their_owner_alone_and_replaced_by_the_next_run(
    tmp_path: Path,
) -> None:
    for run in ("run-1", "run-2"):
        wanted = plant(tmp_path, run)
        assert {path: path.read_text() for path in wanted} == wanted
        assert {path.stat().st_mode & 0o777 for path in wanted} == {0o600}


def test_what_else_lies_in_their_folders_stays(tmp_path: Path) -> None:
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws" / "config").write_text("[default]\n")
    plant(tmp_path, "run-1")
    assert (tmp_path / ".aws" / "config").read_text() == "[default]\n"


@pytest.mark.parametrize("kind", ["a link to a folder", "a link to a file", "a file", "a folder"])
def test_whatever_an_agent_left_in_their_place_leads_nowhere(tmp_path: Path, kind: str) -> None:
    """Else a link into the repository would have us put honeytokens into its next commit."""
    home, repository = tmp_path / "home", tmp_path / "repository"
    repository.mkdir()
    (repository / "README").write_text("hello\n")
    (home / ".ssh").mkdir(parents=True)
    match kind:
        case "a link to a folder":
            (home / ".aws").symlink_to(repository)
        case "a link to a file":
            (home / ".ssh" / "deploy.pem").symlink_to(repository / "README")
        case "a file":
            (home / ".aws").write_text("in the way")
        case _:
            (home / ".ssh" / "deploy.pem" / "deeper").mkdir(parents=True)
    wanted = plant(home, "run-1")
    assert {path: path.read_text() for path in wanted} == wanted
    assert [file.name for file in repository.iterdir()] == ["README"]
    assert (repository / "README").read_text() == "hello\n"
