"""Processes that release something, and may be told to kill themselves in the midst of it."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.component.pushes.releaser import PLAN, Plan


class Releaser:
    """Has plans done by processes of their own."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process

    async def run(self, plan: Plan) -> int:
        """Its exit code."""
        path = plan.folder / "plan.json"
        path.write_bytes(PLAN.dump_json(plan))
        async with asyncio.timeout(60):
            return await asyncio.to_thread(self._run, path)

    def _run(self, path: Path) -> int:
        told, said = self._process.stdin, self._process.stdout
        assert told
        assert said
        told.write(f"{path}\n".encode())
        told.flush()
        return int(said.readline())


@contextmanager
def releasing_by(module: str) -> Iterator[Releaser]:
    """One that does it by a module's processes, each forked from one that has imported all."""
    command = [sys.executable, "-m", module]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield Releaser(process)
        assert process.stdin
        process.stdin.close()
