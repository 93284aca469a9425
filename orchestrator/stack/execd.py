"""execd as one file: the OpenSandbox server copies exactly one into each sandbox."""

import zipapp
from pathlib import Path

from orchestrator.stack.content import NOT_CONTENT

# Isolated: nothing of the agent's (PYTHONPATH, its own site-packages) gets into PID 1.
INTERPRETER = "/usr/bin/env -S python3 -I"


def build_execd(folder: Path, out: Path) -> None:
    """Pack the package `execd` in `folder` into the executable file `out`."""
    zipapp.create_archive(
        folder,
        out,
        interpreter=INTERPRETER,
        main="execd.__main__:main",
        filter=_is_execd,
    )
    out.chmod(0o755)


def _is_execd(path: Path) -> bool:
    return path.parts[0] == "execd" and not NOT_CONTENT & set(path.parts)
