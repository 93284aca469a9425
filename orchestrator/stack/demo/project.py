"""The demo's project on the demo's git host."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from orchestrator.stack.bare_repository import create_bare_repository
from orchestrator.stack.demo.source_archive import fetch, unpack
from orchestrator.stack.demo.task import DemoTask


@dataclass(frozen=True, slots=True)
class DemoRepository:
    """The bare repository, and the commit that its base branch begins with."""

    path: Path
    base_commit: str


def make_repository(task: DemoTask, *, cache: Path, root: Path) -> DemoRepository:
    """Have the task's repository below the git host's `root`; one that is there stays as it is.

    Raises: StepFailed when the project can't be fetched or the repository not be made.
    """
    bare = root / task.repository
    with tempfile.TemporaryDirectory(prefix="sandgate-demo-") as folder:
        files = Path(folder, "files")
        if not bare.exists():
            unpack(fetch(task.project, cache), files)
        message = f"{task.project.name} {task.project.version}, as released"
        return DemoRepository(bare, create_bare_repository(files, bare, message=message))
