"""Content: hashes that say whether something must be built, copies that depend on nothing else."""

import hashlib
import shutil
import stat
from collections.abc import Iterable
from pathlib import Path

from orchestrator.stack.steps import StepFailed

NOT_CONTENT = {"__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache"}


def digest(*parts: str) -> str:
    """One SHA-256 over `parts`, in which no part can pass for another's end."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(f"{len(part)}:{part}".encode())
    return whole.hexdigest()


def tree_hash(folder: Path, *, leave_out: Iterable[str] = ()) -> str:
    """One SHA-256 over the files of `folder`: their paths, whether executable, their bytes."""
    skip = NOT_CONTENT | set(leave_out)
    whole = hashlib.sha256()
    for file in sorted(folder.rglob("*")):
        path = file.relative_to(folder)
        if skip & set(path.parts) or not file.is_file():
            continue
        body = hashlib.sha256(file.read_bytes()).hexdigest()
        whole.update(f"{path.as_posix()}\0{_executable(file)}\0{body}\n".encode())
    return whole.hexdigest()


def copy_content(source: Path, target: Path) -> None:
    """Copy a file or a folder, with modes that don't depend on this machine's umask.

    Raises: StepFailed when `source` isn't there.
    """
    if not source.exists():
        raise StepFailed(
            "A part of an image is missing",
            why=f"{source} does not exist",
            what_to_do="Restore it from the repository (git status).",
        )
    if source.is_file():
        shutil.copyfile(source, target)
        target.chmod(0o755 if _executable(source) else 0o644)
        return
    target.mkdir(parents=True, exist_ok=True)
    target.chmod(0o755)
    for child in source.iterdir():
        if child.name not in NOT_CONTENT:
            copy_content(child, target / child.name)


def _executable(file: Path) -> bool:
    return bool(file.stat().st_mode & stat.S_IXUSR)
