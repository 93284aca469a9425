"""Programs of the npm registry with all that they need, as a lock file pins them by hash.

npm puts them in place and checks each; none of their install scripts is run.
"""

import hashlib
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from orchestrator.stack import npm
from orchestrator.stack.steps import Step, StepFailed

_PATIENCE_S = 900.0
_FILES = ("package.json", "package-lock.json")


def lay_out(project: Path, *, cache: Path, step: Step) -> Path:
    """The folder `node_modules` of what the two files in `project` say; it is kept in `cache`.

    Whole or not at all. Once it is there, nothing is fetched. Raises: StepFailed.
    """
    mark = hashlib.sha256((project / "package-lock.json").read_bytes()).hexdigest()[:16]
    kept = cache / f"npm-tree-{mark}"
    if not kept.exists():
        part = kept.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        try:
            for name in _FILES:
                shutil.copyfile(project / name, part / name)
            _install(part, npm.client(cache, step), step)
            part.replace(kept)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return kept / "node_modules"


def _install(folder: Path, client: Sequence[str], step: Step) -> None:
    step.doing("fetching the programs that npm's lock file names")
    command = [*client, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, timeout=_PATIENCE_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise StepFailed(
            "Fetching npm's programs took too long",
            why=f"it was given up after {_PATIENCE_S:.0f} s",
            what_to_do=npm.TRY_AGAIN,
        ) from error
    if done.returncode:
        raise StepFailed(
            "Fetching npm's programs failed",
            why=(done.stderr or done.stdout).decode(errors="replace").strip()[-800:],
            what_to_do=npm.TRY_AGAIN,
        )
