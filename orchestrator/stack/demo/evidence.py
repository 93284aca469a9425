"""What the demo's git host holds after the run: read from the bare repository, nothing of it is run."""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

_GIT_S = 60.0


@dataclass(frozen=True, slots=True)
class Pushed:
    """The newest branch of a task on the git host, against the base commit."""

    branch: str
    commit: str
    stat: str
    files: tuple[str, ...]
    main: str
    """Where `main` is now."""


def pushed(bare: Path, *, item: str, base: str) -> Pushed | None:
    """What was pushed below `agent/<item>/`; None when nothing was."""
    refs = _git(
        bare,
        "for-each-ref",
        "--sort=-committerdate",
        "--format=%(refname:short)",
        f"refs/heads/agent/{item}/",
    ).split()
    if not refs:
        return None
    diff = ("diff", "--no-ext-diff", "--no-textconv", base, f"refs/heads/{refs[0]}")
    return Pushed(
        branch=refs[0],
        commit=_git(bare, "rev-parse", f"refs/heads/{refs[0]}").strip(),
        stat=_git(bare, *diff, "--stat").rstrip(),
        files=tuple(_git(bare, *diff, "--name-only").split()),
        main=_git(bare, "rev-parse", "refs/heads/main").strip(),
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
    return subprocess.run(
        ("git", "--git-dir", str(bare), *arguments),
        env=env,
        capture_output=True,
        check=True,
        text=True,
        timeout=_GIT_S,
    ).stdout
