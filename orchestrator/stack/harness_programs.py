"""Harnesses as programs: which npm platform package holds each, pinned, and which files we keep.

The packages hold native binaries: no Node is needed to run them, and none runs to fetch them but
npm itself (`npm pack` runs no install scripts).
"""

import base64
import hashlib
import platform
import shutil
import subprocess
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from orchestrator.stack.steps import StepFailed

FETCH_S = 900.0
NATIVE = "native"


@dataclass(frozen=True, slots=True)
class NpmPackage:
    """One platform's package: `spec` for npm, `integrity` as npm writes it (sha512-BASE64)."""

    spec: str
    integrity: str


@dataclass(frozen=True, slots=True)
class HarnessProgram:
    """What is taken of a harness's package; it is laid out in `/opt/harness/NAME/` of a sandbox."""

    version: str
    packages: Mapping[str, NpmPackage]
    """By machine: x86_64, aarch64."""
    keep: tuple[str, ...]
    """Paths in the package: files, or folders with all below them. `{machine}` is filled in."""
    command: str
    """The program itself, as a path in the package."""

    @property
    def path(self) -> str:
        """The program in a sandbox, below `/opt/harness/NAME/`."""
        return self.command.format(machine=platform.machine())

    @property
    def integrity(self) -> str:
        """What identifies this machine's program."""
        return self.packages[platform.machine()].integrity


HARNESS_PROGRAMS: Mapping[str, HarnessProgram] = {
    "claude_code": HarnessProgram(
        version="2.1.332",
        packages={
            "x86_64": NpmPackage(
                "@anthropic-ai/claude-code-linux-x64@2.1.332",
                "sha512-f4JWhzwYutJIHScC7/dYOPX6s28tt7ZADhsOi8zwOHq5fFPEuUeChh2NMfinSg0GrUckYxaeebC4h0"
                "DqiKzLcw==",
            ),
            "aarch64": NpmPackage(
                "@anthropic-ai/claude-code-linux-arm64@2.1.332",
                "sha512-BlHNEtK38KBPWU31F4lUSS9sHclCyfWbThT1CErvxxH8+XcljYLZlQwdyXBkTD62rw1TgfE1u1a+qu"
                "MWS0NSJg==",
            ),
        },
        keep=("claude",),
        command="claude",
    ),
    "codex": HarnessProgram(
        version="0.171.0",
        packages={
            "x86_64": NpmPackage(
                "@openai/codex@0.171.0-linux-x64",
                "sha512-l66NZkQgdk2C3pbcfULDz42yEUB581MVA6I+Y43Wp4OIqEy73HCdmZ0GTjeAHY2ycuH4N00d9VsLrw"
                "T1jxshTw==",
            ),
            "aarch64": NpmPackage(
                "@openai/codex@0.171.0-linux-arm64",
                "sha512-9z17t4bbUJ9UCIb49O4PoA+ki+45q3rd8nZ8PeH6sYnlKkBld/Xpo/OS3h3Ti954+foshX4o7k5TCU"
                "8N7zzqQA==",
            ),
        },
        # The programs find each other by this layout; voice is 40 MB that no sandbox needs.
        keep=(
            "vendor/{machine}-unknown-linux-musl/bin",
            "vendor/{machine}-unknown-linux-musl/codex-path",
            "vendor/{machine}-unknown-linux-musl/codex-resources/bwrap",
        ),
        command="vendor/{machine}-unknown-linux-musl/bin/codex",
    ),
}

NAMES = (NATIVE, *HARNESS_PROGRAMS)
"""Every harness that a sandbox can hold; the native loop is in each."""


def lay_out(harness: str, into: Path, *, cache: Path) -> None:
    """Put the kept files of `harness` into the folder `into`.

    Raises: StepFailed when the package can't be had or isn't the pinned one.
    """
    program = HARNESS_PROGRAMS[harness]
    archive = fetch(program.packages[platform.machine()], cache=cache)
    keep = [path.format(machine=platform.machine()) for path in program.keep]
    into.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive) as tar:
        for member in tar:
            path = PurePosixPath(member.name).relative_to("package")
            if member.isfile() and any(path.is_relative_to(kept) for kept in keep):
                target = into / path
                target.parent.mkdir(parents=True, exist_ok=True)
                source = tar.extractfile(member)
                if source is not None:
                    with target.open("wb") as out:
                        shutil.copyfileobj(source, out)
                    # Set here: a chmod in a later image layer would copy 400 MB again.
                    target.chmod(0o755)
    if not (into / program.path).is_file():
        raise StepFailed(
            f"The package of {harness} is laid out differently",
            why=f"it holds no {program.path}",
            what_to_do="Its row in harness_programs.py must be brought up to date.",
        )


def fetch(package: NpmPackage, *, cache: Path) -> Path:
    """The package's archive in `cache`, fetched by npm and checked against its pinned hash.

    Raises: StepFailed when npm is missing, refuses, or hands over something else.
    """
    kept = cached(package, cache)
    if kept.exists():
        return kept
    if shutil.which("npm") is None:
        raise StepFailed(
            f"{package.spec} can't be fetched",
            why="there is no npm on this machine",
            what_to_do="Install npm (its Node is not needed in the sandbox), then run it again.",
        )
    fresh = kept.with_suffix(".part")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    done = subprocess.run(
        ["npm", "pack", "--silent", f"--pack-destination={fresh}", package.spec],
        cwd=fresh,
        capture_output=True,
        text=True,
        check=False,
        timeout=FETCH_S,
    )
    archives = list(fresh.glob("*.tgz"))
    if done.returncode or not archives:
        raise StepFailed(
            f"Fetching {package.spec} failed",
            why=done.stderr.strip()[-800:] or "npm left no archive",
            what_to_do="Check that this machine reaches its npm registry.",
        )
    found = integrity_of(archives[0])
    if found != package.integrity:
        shutil.rmtree(fresh)
        raise StepFailed(
            f"{package.spec} is not the pinned package",
            why=f"its hash is {found}, pinned is {package.integrity}",
            what_to_do="Don't use it: find out who changed it.",
        )
    archives[0].replace(kept)
    shutil.rmtree(fresh)
    return kept


def cached(package: NpmPackage, cache: Path) -> Path:
    """Where the package's archive is kept: a name of its content's own."""
    name = hashlib.sha256(package.integrity.encode()).hexdigest()[:16]
    return cache / "npm" / f"{name}.tgz"


def integrity_of(file: Path) -> str:
    """The hash of a file as npm writes it."""
    with file.open("rb") as body:
        whole = hashlib.file_digest(body, "sha512")
    return f"sha512-{base64.b64encode(whole.digest()).decode()}"
