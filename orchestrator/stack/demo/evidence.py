"""What the demo's git host holds after the run: read from the bare repository, nothing of it is run."""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from orchestrator.stack.steps import StepFailed

_GIT_S = 60.0


@dataclass(frozen=True, slots=True)
class Pushed:
    """The newest branch of a task on the git host, against the base commit."""

    branch: str
    commit: str
    stat: str
    files: tuple[str, ...]
    main: str
    """Where `main` is now; empty when there is none."""


def pushed(bare: Path, *, item: str, base: str) -> Pushed | None:
    """What was pushed below `agent/<item>/`; None when nothing was.

    What it says was written by an agent: names may hold anything that git lets them hold.
    Raises: StepFailed when the repository can't be read.
    """
    refs = _git(
        bare,
        "for-each-ref",
        "--sort=-committerdate",
        "--format=%(refname)",
        f"refs/heads/agent/{item}/",
    ).splitlines()
    if not refs:
        return None
    diff = ("diff", "--no-ext-diff", "--no-textconv", base, refs[0])
    return Pushed(
        branch=refs[0].removeprefix("refs/heads/"),
        commit=_git(bare, "rev-parse", refs[0]).strip(),
        stat=_git(bare, *diff, "--stat").rstrip(),
        files=tuple(_git(bare, *diff, "--name-only", "-z").split("\0")[:-1]),
        main=_git(bare, "for-each-ref", "--format=%(objectname)", "refs/heads/main").strip(),
    )


_RESULT = re.compile(r"(\d+ (?:passed|failed|errors?)(?:, \d+ \w+)*)[^\n]* in [\d.]+s")


def test_result(text: str) -> str:
    """The closing words of a test run in a tool's output (`78 passed`), or nothing."""
    found = _RESULT.findall(text)
    return found[-1] if found else ""


def _git(bare: Path, *arguments: str) -> str:
    env = {
        "PATH": os.defpath,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.directory",
        "GIT_CONFIG_VALUE_0": "*",
    }
    command = ("git", "--git-dir", str(bare), *arguments)
    try:
        done = subprocess.run(command, env=env, capture_output=True, check=True, timeout=_GIT_S)
    except subprocess.CalledProcessError as error:
        why = error.stderr.decode(errors="replace")
        raise StepFailed(f"git can't read {bare}", why=why) from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise StepFailed("git could not be run", why=str(error)) from error
    return done.stdout.decode(errors="replace")
