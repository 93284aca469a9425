"""Packages of Python's index for a sandbox image, fetched on the host for the image's Python."""

import platform
from pathlib import Path

from orchestrator.stack import wheels

SAY_VERSION = "import sys; print('%d.%d' % sys.version_info[:2])"
"""Python that prints the version that `install_packages` asks for."""


def install_packages(lock: Path, *, into: Path, python_version: str, cache: Path) -> None:
    """Lay the packages of `lock` (pinned, with hashes; wheels only) out in the folder `into`.

    Raises: StepFailed when one can't be had or isn't what the lock says.
    """
    wheels.lay_out(
        lock,
        into=into,
        cache=cache,
        python=(
            f"--python-version={python_version}",
            f"--python-platform={platform.machine()}-manylinux_2_28",
        ),
        what="Fetching an image's packages failed",
    )
