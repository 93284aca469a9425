"""Wheels of the Python package index, laid out in a folder: pinned by their hashes, never built."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from uv import find_uv_bin

from orchestrator.stack.steps import StepFailed

FETCH_S = 900.0


def lay_out(lock: Path, *, into: Path, cache: Path, python: Sequence[str], what: str) -> None:
    """Have uv lay the packages of `lock` out in the folder `into`.

    `python` is for which Python, as uv's options; `what` is what fails if they can't be had.
    Raises: StepFailed when one can't be had or isn't what the lock says.
    """
    command = [
        *(find_uv_bin(), "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:"),
        *("--require-hashes", f"--requirements={lock}"),
        *(f"--cache-dir={cache / 'uv'}", f"--target={into}", *python),
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=FETCH_S)
    except subprocess.TimeoutExpired as error:
        raise _failed(what, f"uv was not done after {FETCH_S:.0f} s") from error
    if done.returncode:
        raise _failed(what, "\n".join(done.stderr.strip().splitlines()[-12:]))
    # uv's own lock file, writable to all: not in an image where nothing is.
    (into / ".lock").unlink(missing_ok=True)


def _failed(what: str, why: str) -> StepFailed:
    return StepFailed(
        what, why=why, what_to_do="Check that this machine reaches its Python package index."
    )
