"""Makes a bare repository, as a git host keeps it, from a folder of files."""

import os
import shutil
import subprocess
from pathlib import Path

from orchestrator.stack.steps import StepFailed

MAIN = "main"
_EPOCH = "2000-01-01T00:00:00+0000"
"""A fixed date: the same files give the same commit."""
_SETTINGS = {
    "http.receivepack": "true",
    # The second line behind the door's rules: no branch is ever rewritten or removed.
    "receive.denyNonFastForwards": "true",
    "receive.denyDeletes": "true",
    "uploadpack.allowFilter": "true",
    "gc.auto": "0",
}


def create_bare_repository(files: Path, bare: Path, *, message: str) -> str:
    """Put `files` into one commit on `main` of a new repository at `bare`; return the commit's id.

    A repository that is there already is left as it is, and its `main` returned. Nothing half-made
    stays behind. Raises: StepFailed when git can't do it.
    """
    if not bare.exists():
        part = bare.with_name(f".{bare.name}.part")
        part.parent.mkdir(parents=True, exist_ok=True)
        try:
            _make(files, part, message)
            part.rename(bare)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return _git(bare, "rev-parse", "--verify", f"refs/heads/{MAIN}").strip()


def _make(files: Path, bare: Path, message: str) -> None:
    shutil.rmtree(bare, ignore_errors=True)
    _git(bare.parent, "init", "--quiet", "--bare", "--template=", f"-b{MAIN}", str(bare))
    for name, value in _SETTINGS.items():
        _git(bare, "config", name, value)
    tree = {"GIT_DIR": str(bare), "GIT_WORK_TREE": str(files)}
    _git(files, "add", "--all", "--force", "--", ".", **tree)
    _git(files, "commit", "--quiet", "--message", message, **tree)
    (bare / "index").unlink()


def _git(folder: Path, *arguments: str, **more: str) -> str:
    env = {
        "PATH": os.defpath,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.directory",
        "GIT_CONFIG_VALUE_0": "*",
        **{f"GIT_{who}_NAME": "Sandgate" for who in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{who}_EMAIL": "sandgate@localhost" for who in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{who}_DATE": _EPOCH for who in ("AUTHOR", "COMMITTER")},
        **more,
    }
    try:
        done = subprocess.run(
            ("git", *arguments),
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            text=True,
            timeout=120,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise StepFailed("git could not be run", why=str(error)) from error
    except subprocess.CalledProcessError as error:
        raise StepFailed(f"git {arguments[0]} failed", why=error.stderr or error.stdout) from error
    return done.stdout
