"""Every scored scenario of the public suite passes through the gateway, in both eras."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.conformance.programs import Programs
from tests.servers.door import Door

pytestmark = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
"""Logging and sampling are deprecated, and the server behind the gateway has them all the same."""
PATIENCE_S = 110
SCORED = {"2025-11-25": 30, "2026-07-28": 37}
NOT_SCORED = "Not scored for"


async def run(*command: str, folder: Path) -> tuple[int, str]:
    """A program's exit code, and what it said."""
    running = await asyncio.create_subprocess_exec(
        *command, cwd=folder, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    try:
        async with asyncio.timeout(PATIENCE_S):
            out, _ = await running.communicate()
    finally:
        if running.returncode is None:
            running.kill()
            await running.wait()
    return running.returncode or 0, out.decode(errors="replace")


@pytest.mark.parametrize("revision", SCORED)
async def test_every_scored_scenario_passes(
    door: Door, tools: Programs, tmp_path: Path, revision: str
) -> None:
    url = f"{door.url}/mcp"
    listed = await run(*tools.suite, "list", "--requirements", revision, folder=tmp_path)
    scored = scored_in(listed[1])
    assert len(scored) == SCORED[revision], "the suite is not the pinned one"
    code, said = await run(
        *tools.suite, "server", "--url", url, "--requirements", revision, folder=tmp_path
    )
    marks = marks_in(said)
    assert {name for name in scored if marks.get(name) != "✓"} == set(), said[-3000:]
    assert code == 0, said[-3000:]


def scored_in(listing: str) -> set[str]:
    """The names of the scored scenarios for servers."""
    _, _, rest = listing.partition("Server scenarios")
    ours, _, _ = rest.partition("Client scenarios")
    return {line.strip()[2:] for line in ours.splitlines() if line.startswith("  - ")}


def marks_in(said: str) -> dict[str, str]:
    """What the suite says of each scenario that it ran."""
    results, _, _ = said.partition(NOT_SCORED)
    lines = [line for line in results.splitlines() if line[:2] in {"✓ ", "✗ "}]
    return {line[2:].partition(":")[0]: line[0] for line in lines}


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_the_inspector_lists_and_calls(
    door: Door, tools: Programs, tmp_path: Path, era: str
) -> None:
    told = [f"{door.url}/mcp", "--transport", "http", "--protocol-era", era]
    shown = ["--header", f"Authorization: Bearer {door.token}"]
    asked = [*tools.inspector, "--cli", *told, *shown]
    code, said = await run(*asked, "--method", "tools/list", folder=tmp_path)
    assert code == 0, said
    assert "test_simple_text" in said
    called = ["--method", "tools/call", "--tool-name", "test_simple_text"]
    code, said = await run(*asked, *called, folder=tmp_path)
    assert code == 0, said
    [content] = json.loads(said[said.index("{") :])["content"]
    assert content["text"].startswith("This is a simple text")
