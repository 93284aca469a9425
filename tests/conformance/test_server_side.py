"""Every scored scenario for servers passes through the gateway, in both eras."""

import json
from pathlib import Path

import pytest

from tests.conformance.programs import Programs
from tests.conformance.suite import run, score
from tests.servers.door import Door

pytestmark = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
"""Logging and sampling are deprecated, and the server behind the gateway has them all the same."""
SCORED = {"2025-11-25": 30, "2026-07-28": 37}


@pytest.mark.parametrize("revision", SCORED)
async def test_every_scored_scenario_passes(
    door: Door, tools: Programs, tmp_path: Path, revision: str
) -> None:
    url = f"{door.url}/mcp"
    found = await score(tools, "server", revision, "--url", url, folder=tmp_path)
    assert len(found.scored) == SCORED[revision], "the suite is not the pinned one"
    assert found.scored - found.passed == set(), found.said[-3000:]
    assert found.code == 0, found.said[-3000:]


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
