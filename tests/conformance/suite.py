"""The public suite: what it scores, and what it says of a run."""

import asyncio
import os
import re
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tests.conformance.programs import Programs

PATIENCE_S = 110
_NOT_SCORED = "Not scored for"
_RESULT = re.compile(r"^[✓✗] (\S+): (\d+) passed, 0 failed(, \d+ warnings)?$", re.MULTILINE)
_MEASURING = "sse-retry"
"""It warns where a client is a little late, as one on a busy machine is."""


@dataclass(frozen=True)
class Score:
    """What became of one side's scenarios."""

    scored: set[str]
    passed: set[str]
    """Without a warning; also of those that are not scored."""
    code: int
    said: str


async def score(
    tools: Programs, side: Literal["client", "server"], revision: str, *told: str, folder: Path
) -> Score:
    """Run all that a revision requires of one side. `told`: where to find that."""
    required = "--requirements", revision
    _, listing = await run(*tools.suite, "list", *required, folder=folder)
    scored = _scored_in(listing)[side]
    code, said = await run(*tools.suite, side, *required, *told, folder=folder)
    return Score(scored, _passed_in(said), code, said)


async def run(*command: str, folder: Path) -> tuple[int, str]:
    """A program's exit code, and what it said. What it has started ends with it."""
    running = await asyncio.create_subprocess_exec(
        *command,
        cwd=folder,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(PATIENCE_S):
            out, _ = await running.communicate()
    finally:
        if running.returncode is None:
            os.killpg(running.pid, signal.SIGKILL)
            await running.wait()
    return running.returncode or 0, out.decode(errors="replace")


def _scored_in(listing: str) -> dict[str, set[str]]:
    """The names of the scored scenarios."""
    _, _, rest = listing.partition("Server scenarios")
    server, _, client = rest.partition("Client scenarios")
    client, _, _ = client.partition("Run and reported")
    return {"server": _names_in(server), "client": _names_in(client)}


def _names_in(listing: str) -> set[str]:
    return {line.strip()[2:] for line in listing.splitlines() if line.startswith("  - ")}


def _passed_in(said: str) -> set[str]:
    results, _, _ = said.partition(_NOT_SCORED)
    return {name for name, passed, more in _RESULT.findall(results) if _is_good(name, passed, more)}


def _is_good(name: str, passed: str, more: str) -> bool:
    """One that has checked nothing has not passed."""
    return passed != "0" and (not more or name == _MEASURING)
