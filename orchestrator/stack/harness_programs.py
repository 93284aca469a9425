"""Harnesses as programs: which npm package holds each, pinned, and which of its files we keep.

The packages hold native binaries: no Node is needed to run them.
"""

import platform
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from orchestrator.stack.npm import NpmPackage
from orchestrator.stack.steps import StepFailed

NATIVE = "native"


@dataclass(frozen=True, slots=True)
class HarnessProgram:
    """What is taken of a harness's package; in a sandbox it lies below `/opt/harness/NAME/`."""

    version: str
    size: int
    """About how many bytes its package has."""
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
    def runs_here(self) -> bool:
        """Say whether there is one for this machine."""
        return platform.machine() in self.packages

    @property
    def package(self) -> NpmPackage:
        """This machine's. Raises: StepFailed when there is none."""
        if not self.runs_here:
            raise StepFailed(
                f"There is no {self.command} for this machine",
                why=f"its maker has programs for {', '.join(self.packages)}, not {platform.machine()}",
                what_to_do="Run such agents on the native loop, or on another machine.",
            )
        return self.packages[platform.machine()]


HARNESS_PROGRAMS: Mapping[str, HarnessProgram] = {
    "claude_code": HarnessProgram(
        version="2.1.332",
        size=186_000_000,
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
        size=172_000_000,
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


def lay_out(harness: str, archive: Path, context: tarfile.TarFile) -> None:
    """Add the kept files of a harness's package to an image's build context, below `opt/harness/`.

    Raises: StepFailed when the package doesn't hold the program where it should.
    """
    program = HARNESS_PROGRAMS[harness]
    keep = [path.format(machine=platform.machine()) for path in program.keep]
    found = set()
    with tarfile.open(archive) as package:
        for member in package:
            path = PurePosixPath(member.name).relative_to("package")
            source = package.extractfile(member) if member.isfile() else None
            if source is not None and any(path.is_relative_to(kept) for kept in keep):
                # Of root, and the same whenever it is made.
                copy = tarfile.TarInfo(f"opt/harness/{harness}/{path}")
                copy.size, copy.mode = member.size, 0o755
                context.addfile(copy, source)
                found.add(str(path))
    if program.path not in found:
        raise StepFailed(
            f"The package of {harness} is laid out differently",
            why=f"it holds no {program.path}",
            what_to_do="Its row in harness_programs.py must be brought up to date.",
        )
