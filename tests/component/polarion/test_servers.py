"""Connections to MCP servers, as the Agent Pool has them."""

from entrance.ports import McpServer
from entrance.tool_policy import Mode
from orchestrator.adapters.polarion import NewItem, PolarionClient, Text
from orchestrator.adapters.polarion.servers import PolarionServers


def connection(title: str, **fields: str) -> NewItem:
    policy = fields.pop("toolPolicy", None)
    custom = {**fields, **({"toolPolicy": Text(policy)} if policy else {})}
    return NewItem(type="mcpConnection", title=title, custom=custom)


async def test_only_the_pools_own_active_connections_that_can_be_read_are_there(
    admin: PolarionClient, project: str
) -> None:
    other = f"{project}X"
    await admin.projects.create(other, prefix=other, name="Another project")
    url = "https://wiki.example/mcp"
    wiki, *_ = await admin.items.create_many(
        project,
        [
            connection("wiki", url=url, secretName="wiki-token"),
            connection("open", url="http://127.0.0.1:8000/mcp"),
            connection("Not a name", url=url),
            connection("nowhere", url="file:///etc/passwd"),
            connection("user", url="https://me:secret@wiki.example/mcp"),
            connection("none"),
            connection("bounded", url=url, toolPolicy='{"drop": "forbidden", "read": "read"}'),
            connection("unclear", url=url, toolPolicy='{"drop": "never"}'),
        ],
    )
    await admin.items.create(other, connection("theirs", url=url))
    servers = PolarionServers(admin, project)
    modes = {"drop": Mode.FORBIDDEN, "read": Mode.READ}
    assert sorted(await servers.active(), key=lambda one: one.name) == [
        McpServer("bounded", url, modes=modes),
        McpServer("open", "http://127.0.0.1:8000/mcp"),
        McpServer("wiki", url, "wiki-token"),
    ]
    await admin.items.update(wiki, status="disabled")
    assert {one.name for one in await servers.active()} == {"open", "bounded"}
