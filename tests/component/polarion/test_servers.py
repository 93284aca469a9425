"""Connections to MCP servers, as the Agent Pool has them."""

from structlog.testing import capture_logs

from entrance.ports import McpServer, Stdio
from entrance.session import Backend
from entrance.tool_policy import Bounds, Mode
from orchestrator.adapters.polarion import NewItem, PolarionClient, Text
from orchestrator.adapters.polarion.servers import PolarionServers

TEXTS = {"toolPolicy", "command", "environment", "egress"}


def connection(title: str, **fields: str) -> NewItem:
    custom = {name: Text(said) if name in TEXTS else said for name, said in fields.items()}
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
            connection("old", url="https://wiki.example/sse", transport="sse"),
            connection("odd", url=url, transport="carrier-pigeon"),
            connection("unclear", url=url, toolPolicy='{"drop": "never"}'),
            connection("unasked", url=url, toolPolicy='{"tools": {}, "asks": ["all"]}'),
            connection(
                "closed",
                url=url,
                toolPolicy='{"tools": {"drop": "approval"}, "prompts": [], "resources": ["w:*"]}',
            ),
        ],
    )
    await admin.items.create(other, connection("theirs", url=url))
    servers = PolarionServers(admin, project)
    with capture_logs() as said:
        await servers.active()
        await servers.active()
    assert [one["event"] for one in said] == ["connection_left_out"] * 7, "each is told once"
    modes = {"drop": Mode.FORBIDDEN, "read": Mode.READ}
    assert sorted(await servers.active(), key=lambda one: one.name) == [
        McpServer("bounded", url, modes=modes),
        McpServer(
            "closed",
            url,
            modes={"drop": Mode.APPROVAL},
            bounds=Bounds(prompts=frozenset(), resources=("w:*",)),
        ),
        McpServer("old", "https://wiki.example/sse", transport="sse"),
        McpServer("open", "http://127.0.0.1:8000/mcp"),
        McpServer("wiki", url, "wiki-token"),
    ]
    await admin.items.update(wiki, status="disabled")
    assert {one.name for one in await servers.active()} == {"open", "old", "bounded", "closed"}


async def test_a_server_that_is_run_over_stdio_says_how_and_what_it_may_reach(
    admin: PolarionClient, project: str
) -> None:
    run = {"transport": "stdio", "command": "npx -y 'a server@1.0'"}
    await admin.items.create_many(
        project,
        [
            connection("memory", **run, environment="FILE=/data/a=b\n", egress="presets: [npm]"),
            connection("half", **run, url="https://wiki.example/mcp"),
            connection("no-command", transport="stdio"),
            connection("open", **run, egress="rules: [{host: a.example, mode: hold}]"),
            connection("proxied", **run, environment="HTTPS_PROXY=http://127.0.0.1:1"),
        ],
    )
    (found,) = await PolarionServers(admin, project).active()
    command, env = ("npx", "-y", "a server@1.0"), {"FILE": "/data/a=b"}
    assert found == McpServer("memory", stdio=Stdio(command, env, "presets: [npm]"))


async def test_a_server_that_is_run_over_stdio_may_have_a_backend(
    admin: PolarionClient, project: str
) -> None:
    env = {"URL": "${BACKEND_URL}", "TOKEN": "${BACKEND_TOKEN}"}
    item = connection(
        "wiki",
        transport="stdio",
        command="run",
        environment="\n".join(f"{name}={value}" for name, value in env.items()),
        url="https://wiki.example/api",
        secretName="wiki-token",
    )
    await admin.items.create(project, item)
    backend = Backend("https://wiki.example/api", "wiki-token")
    (found,) = await PolarionServers(admin, project).active()
    assert found == McpServer("wiki", stdio=Stdio(("run",), env, backend=backend))
