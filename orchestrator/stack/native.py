"""The native loop's own packages, fetched on the host for the Python of the sandbox image."""

import platform
import subprocess
from pathlib import Path

from uv import find_uv_bin

from orchestrator.stack.steps import StepFailed

FETCH_S = 600.0
SAY_VERSION = "import sys; print('%d.%d' % sys.version_info[:2])"
"""Python that prints the version that `install_packages` asks for."""


def install_packages(lock: Path, *, into: Path, python_version: str, cache: Path) -> None:
    """Lay the packages of `lock` (pinned, with hashes; wheels only) out in the folder `into`.

    Raises: StepFailed when one can't be had or isn't what the lock says.
    """
    if not lock.exists():
        return
    command = [
        find_uv_bin(),
        "pip",
        "install",
        "--quiet",
        f"--cache-dir={cache / 'uv'}",
        f"--target={into}",
        f"--python-version={python_version}",
        f"--python-platform={platform.machine()}-manylinux_2_28",
        "--only-binary=:all:",
        "--require-hashes",
        f"--requirements={lock}",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=FETCH_S)
    if done.returncode:
        raise StepFailed(
            "Fetching the native loop's packages failed",
            why="\n".join(done.stderr.strip().splitlines()[-12:]),
            what_to_do="Check that this machine reaches its Python package index.",
        )
    # uv's own lock file, writable to all: not in an image where nothing is.
    (into / ".lock").unlink(missing_ok=True)
