"""One agent with MCP servers that are run over stdio, and obeys."""

import asyncio
import contextlib
from collections.abc import Iterator

import aiohttp
import docker
import pytest

from orchestrator.adapters.polarion import NewItem, PolarionClient, Text
from orchestrator.stack.services import LOOPBACK, polarion_token
from tests.e2e.escape.agent import Agent, obeying, order
from tests.e2e.house import House
from tests.e2e.servers.tiny import tiny

NPM, PYPI = "presets: [npm]\n", "presets: [pypi]\n"
FALL = """
with open("/workspace/fell", "a") as file:
    file.write("once\\n")
os._exit(3)
"""
FELL = 'return open("/workspace/fell").read() if os.path.exists("/workspace/fell") else "never"'
SERVERS = {
    "everything": ("npx -y @modelcontextprotocol/server-everything@2026.8.31 stdio", NPM),
    "files": ("npx -y @modelcontextprotocol/server-filesystem@2026.8.31 /workspace", NPM),
    "memory": ("npx -y @modelcontextprotocol/server-memory@2026.8.31", NPM),
    "clock": ("uvx mcp-server-time@2026.10.19 --local-timezone UTC", PYPI),
    "frail": (tiny({"fall": FALL, "fell": FELL}), ""),
    "broken": ("sh -c 'echo there is no such package >&2; exit 7'", ""),
}
TOOLS = {
    "polarion": ["get_task", "submit_for_approval", "ask_questions"],
    "everything": ["echo", "get-env", "trigger-long-running-operation"],
    "files": ["write_file", "read_text_file"],
    "memory": ["create_entities", "read_graph"],
    "clock": ["get_current_time"],
    "frail": ["fall", "fell"],
    "alm": ["list_projects", "get_work_item"],
    "broken": ["anything"],
}


@pytest.fixture(scope="session")
def engine() -> Iterator[docker.DockerClient]:
    with contextlib.closing(docker.from_env(timeout=90)) as client:
        yield client


@pytest.fixture(scope="session")
def served(house: House) -> House:
    """The house, with the servers in its Agent Pool, and an agent that may use them."""
    connect(house, *(server_item(name, *said) for name, said in SERVERS.items()))
    house.hire("user", tools=TOOLS)
    return house


@pytest.fixture(scope="package")
def user(served: House, engine: docker.DockerClient) -> Iterator[Agent]:
    """The agent, in the middle of its run."""
    agent = obeying(served, engine, order(served, "user"))
    yield agent
    agent.end()


def server_item(
    name: str, command: str, egress: str, *, url: str = "", secret: str = "", environment: str = ""
) -> NewItem:
    """The item of a server that is run over stdio."""
    texts = {"command": command, "egress": egress, "environment": environment}
    custom = {name: Text(text) for name, text in texts.items() if text}
    backend = {"url": url, "secretName": secret} if url else {}
    return NewItem("mcpConnection", name, custom={"transport": "stdio", **backend, **custom})


def connect(house: House, *items: NewItem) -> list[str]:
    """Put items into the Agent Pool; their ids."""
    token = polarion_token(house.here).read_text()
    url = f"http://{LOOPBACK}:{house.here.ports.polarion}/polarion/rest/v1"

    async def put() -> list[str]:
        async with aiohttp.ClientSession(trust_env=False) as http:
            client = PolarionClient(
                http, url, lambda _method, _url: {"Authorization": f"Bearer {token}"}
            )
            return list(await client.items.create_many("AGENTS", list(items)))

    return asyncio.run(put())
