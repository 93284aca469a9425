"""The `sandgate` command in this process: its arguments, its streams, its exit code."""

import asyncio
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass

import orjson

from orchestrator.cli.main import main


@dataclass(frozen=True, slots=True)
class Done:
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> object:
        """What was printed, which must be one JSON value."""
        return orjson.loads(self.out)


def sandgate(*arguments: str, stdin: bytes = b"") -> Done:
    """Run it to its end, as a shell would; the installation is the environment's."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), _stdin(stdin):
        try:
            main(arguments)
            code = 0
        except SystemExit as ended:
            code = int(ended.code or 0)
    return Done(code, out.getvalue(), err.getvalue())


async def sandgate_beside(*arguments: str, stdin: bytes = b"") -> Done:
    """The same in a thread, while this loop serves what the command asks for."""
    return await asyncio.to_thread(sandgate, *arguments, stdin=stdin)


@contextmanager
def _stdin(content: bytes) -> Iterator[None]:
    before = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8")
    try:
        yield
    finally:
        sys.stdin = before
