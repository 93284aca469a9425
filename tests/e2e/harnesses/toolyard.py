"""MCP servers for harnesses to call: an office, a warehouse, oddities, and one that dies for each.

They are made with the SDK, listen on loopback, and are connections of the lodge's Agent Pool.
"""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
from mcp.server.mcpserver import MCPServer

from orchestrator.adapters.polarion import NewItem
from tests.e2e.harnesses.oddities import oddities
from tests.e2e.harnesses.rows import CLAUDE_CODE, CODEX, CODEX_WITH_TOOLS, NATIVE
from tests.e2e.house import House
from tests.e2e.supervisor import polarion_of
from tests.servers.asgi import served
from tests.servers.mortal import Mortal, mortals

PROGRAMS = (CLAUDE_CODE, CODEX, CODEX_WITH_TOOLS, NATIVE[0])
"""They use all of it."""
SHELVES = 300
LONG_NAME = (
    "describe_the_present_state_of_every_page_of_the_task_"
    "in_full_detail_and_without_leaving_anything_out"
)
"""Longer than any model's provider takes."""
_LINE = "All work and no play makes a dull page of text.\n"
BOOK = _LINE * ((5 << 20) // len(_LINE)) + "This is the last line of the book."


@dataclass
class Office:
    """What it was asked to do, each with the task's id in front."""

    reads: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    """Of the calls that never end: those that were cancelled."""

    def written_for(self, item: str) -> list[str]:
        """What it wrote for a task."""
        return [one.removeprefix(f"{item} ") for one in self.writes if one.startswith(f"{item} ")]


@dataclass(frozen=True, slots=True)
class Yard:
    """All of them."""

    office: Office
    taken: list[str]
    """What was asked of the warehouse."""
    mortals: Mapping[str, Mortal]

    def taken_for(self, item: str) -> list[str]:
        """The shelves that something was taken from for a task."""
        return [one.removeprefix(f"{item} ") for one in self.taken if one.startswith(f"{item} ")]


def grants(short: str) -> Mapping[str, Mapping[str, object]]:
    """What the agent of a program may call."""
    reads = dict.fromkeys(("read_page", "read_book", "dream", LONG_NAME), "read")
    writes = dict.fromkeys(("write_page", "drop_page", "log_entry"), "approval")
    shelves = {name_of(number): "read" for number in range(1, SHELVES + 1)}
    return {
        "polarion": {"tools": {"get_task": "read"}},
        "office": {"tools": {**reads, **writes}},
        "warehouse": {"tools": shelves},
        mortal_of(short): {"tools": {"pulse": "read", "die": "write"}},
    }


def name_of(shelf: int) -> str:
    """The name of a shelf's tool."""
    return f"take_from_shelf_{shelf:03d}"


def mortal_of(short: str) -> str:
    """The connection of the server that dies for a program."""
    return f"mortal-{short}"


@contextmanager
def open_yard(house: House, folder: Path) -> Iterator[Yard]:
    """They serve until the block ends, as connections of the house."""
    office, taken = Office(), list[str]()
    names = [mortal_of(program.short) for program in PROGRAMS]
    with (
        served(_app(_office(office))) as office_url,
        served(_app(_warehouse(taken))) as warehouse_url,
        served(_app(oddities())) as oddities_url,
        mortals(folder, names) as dying,
    ):
        urls = {"office": office_url, "warehouse": warehouse_url, "oddities": oddities_url}
        urls |= {name: mortal.url for name, mortal in dying.items()}
        asyncio.run(_connected(house, urls))
        yield Yard(office, taken, dying)


async def _connected(house: House, urls: Mapping[str, str]) -> None:
    items = [
        NewItem(type="mcpConnection", title=name, custom={"url": url}) for name, url in urls.items()
    ]
    async with aiohttp.ClientSession(trust_env=False) as http:
        await polarion_of(house, http).items.create_many("AGENTS", items)


def _office(office: Office) -> MCPServer:
    server = MCPServer("office", log_level="ERROR")

    @server.tool()
    def read_page(item: str) -> str:
        """Read the page of a task."""
        office.reads.append(item)
        return f"The page of {item} is blank."

    @server.tool()
    def read_book() -> str:
        """Read a long book."""
        return BOOK

    @server.tool(name=LONG_NAME)
    def describe(item: str) -> str:
        """Describe the pages of a task."""
        return f"All pages of {item} are blank."

    @server.tool()
    async def dream(item: str) -> str:
        """Never come back."""
        try:
            await asyncio.Event().wait()
        finally:
            office.left.append(item)
        return "awake"

    @server.tool()
    def write_page(item: str, text: str) -> str:
        """Write the page of a task."""
        office.writes.append(f"{item} page {text}")
        return "The page is written."

    @server.tool()
    def drop_page(item: str) -> str:
        """Drop the page of a task."""
        office.writes.append(f"{item} drop")
        return "The page is dropped."

    @server.tool()
    def log_entry(item: str, text: str) -> str:
        """Add to the log of a task."""
        office.writes.append(f"{item} log {text}")
        return "The entry is in the log."

    return server


def _warehouse(taken: list[str]) -> MCPServer:
    server = MCPServer("warehouse", log_level="ERROR")

    def shelf(number: int) -> None:
        def take(item: str, pieces: int = 1) -> str:
            taken.append(f"{item} {number}")
            return f"{pieces} from shelf {number} for {item}."

        server.add_tool(take, name=name_of(number), description=f"Take from shelf {number}.")

    for number in range(1, SHELVES + 1):
        shelf(number)
    return server


def _app(server: MCPServer) -> object:
    return server.streamable_http_app(streamable_http_path="/mcp")
