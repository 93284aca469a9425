"""A result that is too large to be told, from a real client to a file in a real sandbox."""

import hashlib
import re
from dataclasses import replace
from pathlib import Path

import pytest

from entrance.ports import McpServer
from entrance.session import hash_token, new_run_token
from orchestrator.adapters.opensandbox.sandboxes import OpenSandboxes
from orchestrator.ports import Sandbox, SandboxSpec
from orchestrator.runner.result_files import SandboxFiles
from tests.component.entrance.test_mcp import mcp_client, text_of
from tests.e2e.sandbox.lab import TOKEN
from tests.servers.anthropic import model_server
from tests.servers.door import open_door
from tests.servers.odd_mcp import odd_server

pytestmark = pytest.mark.docker

LONG = "".join(f"line {number}\n" for number in range(500_000))
"""More than 5 MB."""


async def test_five_megabytes_of_a_tool_are_a_file_that_the_agent_can_read_and_git_does_not_see(
    tmp_path: Path, sandboxes: OpenSandboxes, spec: SandboxSpec, sandbox: Sandbox
) -> None:
    """CASE-69: bounded; the rest spilled to a file the agent can read."""
    files = SandboxFiles(sandboxes, lambda _: TOKEN)
    async with odd_server() as odd, model_server() as model:
        odd.results["count"] = {"content": [{"type": "text", "text": LONG}], "isError": False}
        servers = [McpServer("odd", odd.url)]
        async with open_door(tmp_path, model, servers=servers, files=files) as door:
            door.token = new_run_token()
            door.session = replace(
                door.session,
                run=spec.run,
                token_sha256=hash_token(door.token),
                tools={"odd": frozenset({"count"})},
            )
            door.reopen()
            async with mcp_client(door) as client:
                told = text_of(await client.call_tool("count", {}))
    assert len(told) < 30_000
    assert told.startswith("line 0\nline 1\n")
    found = re.search(rf"beginning of {len(LONG)} characters; all of it: (\S+)\]$", told)
    assert found
    path = found[1]
    look = f"sha256sum {path}; cd /workspace; git init -q .; git status --porcelain --ignored"
    done = await sandboxes.execute(sandbox, ["sh", "-c", look])
    digest = hashlib.sha256(LONG.encode()).hexdigest()
    assert done.output.splitlines() == [f"{digest}  {path}", "!! .sandgate/"]
