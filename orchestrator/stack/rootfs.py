"""A Debian root file system, made on this machine where no registry has an image."""

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from orchestrator.stack import apt_sources
from orchestrator.stack.packages import DebianPackages
from orchestrator.stack.steps import StepFailed

BUILD_TIMEOUT_S = 900.0
LEFT_OUT = (
    "path-exclude=/usr/share/man/*",
    "path-exclude=/usr/share/locale/*",
    "path-exclude=/usr/share/doc/*",
    "path-include=/usr/share/doc/*/copyright",
)
HOOKS = (
    # The archive's addresses (a private mirror's, perhaps) are nobody's business in a sandbox.
    'rm -rf "$1"/etc/apt/sources.list "$1"/etc/apt/sources.list.d/*',
    ': > "$1"/etc/resolv.conf; echo sandbox > "$1"/etc/hostname',
)


def package_list(text: str) -> tuple[str, ...]:
    """The names in a package list, without comments and blank lines, sorted."""
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return tuple(sorted({line for line in lines if line}))


def make_tar(
    tar: Path, packages: Iterable[str], *, debian: DebianPackages, doing: Callable[[str], None]
) -> None:
    """Write a root file system with `packages` to `tar`; whole or not at all.

    Raises: StepFailed when this machine can't make one.
    """
    suite = apt_sources.this_suite()
    sources = apt_sources.debian_sources(apt_sources.read_source_files(), suite)
    lines = [str(source) for source in sources]
    if not lines:
        raise StepFailed(
            "The sandbox's base image can't be made",
            why="no container registry answers, and apt on this machine names no Debian archive",
            what_to_do="Make a registry reachable to the Docker engine, or run this on Debian.",
        )
    debian.ensure(("mmdebstrap", "debian-archive-keyring"), doing=doing)
    doing(f"making a Debian {suite} root file system")
    tar.parent.mkdir(parents=True, exist_ok=True)
    part = tar.with_name(tar.name + ".part")
    with tempfile.TemporaryDirectory(dir=tar.parent, prefix="build-") as scratch:
        listing = Path(scratch) / "sources.list"
        listing.write_text("\n".join(lines) + "\n")
        done = subprocess.run(
            ["env", f"TMPDIR={scratch}", *_mmdebstrap(suite, packages, part, listing)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=BUILD_TIMEOUT_S,
        )
    if done.returncode:
        part.unlink(missing_ok=True)
        raise StepFailed(
            "Making the sandbox's root file system failed",
            why="\n".join(done.stderr.strip().splitlines()[-12:]),
            what_to_do="Check that this machine reaches its Debian archive and has free disk.",
        )
    part.replace(tar)


def _mmdebstrap(suite: str, packages: Iterable[str], out: Path, listing: Path) -> list[str]:
    program = shutil.which("mmdebstrap") or "mmdebstrap"
    return [
        program,
        "--quiet",
        "--variant=apt",
        "--format=tar",
        f"--include={','.join(packages)}",
        '--aptopt=Acquire::Languages "none"',
        '--aptopt=Apt::Install-Recommends "false"',
        *(f"--dpkgopt={option}" for option in LEFT_OUT),
        *(f"--customize-hook={hook}" for hook in HOOKS),
        suite,
        str(out),
        str(listing),
    ]
