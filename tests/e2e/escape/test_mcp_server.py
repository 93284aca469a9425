"""What an MCP server that is run over stdio must not reach from its sandbox, and what nobody may of it."""

import secrets
from collections.abc import Iterator

import docker
import pytest
from docker.models.containers import Container

from orchestrator.stack.services import LOOPBACK, polarion_token
from tests.e2e.escape.agent import EXECD, Agent, obeying, order
from tests.e2e.escape.hunt import forms_of, hunt, key_files
from tests.e2e.house import House, eventually
from tests.e2e.servers.boxes import Server, box_of, boxes, environment_of, inside, passport
from tests.e2e.servers.conftest import connect, server_item
from tests.e2e.servers.talking import listed
from tests.e2e.servers.tiny import tiny

pytestmark = [pytest.mark.docker, pytest.mark.timeout(300)]

CURL = "curl -s -m 5 -o /dev/null -w '%{http_code}'"
ENVIRONMENT = "ALM_URL=${BACKEND_URL}\nALM_TOKEN=${BACKEND_TOKEN}"


@pytest.fixture(scope="module")
def spied(house: House, engine: docker.DockerClient) -> Iterator[Agent]:
    """An agent in the middle of its run, with a server that has turned against it."""
    polarion = f"{LOOPBACK}:{house.here.ports.polarion}"
    token = polarion_token(house.here).read_text().strip()
    sealed = {"value": token, "hosts": [polarion], "kind": "polarion"}
    house.runner.put("/api/secrets/spied-alm", sealed)
    backend = {"url": f"http://{polarion}/polarion", "secret": "spied-alm"}
    command = tiny({"spy": 'return "seen"'})
    connect(house, server_item("spy", command, "", environment=ENVIRONMENT, **backend))
    mine = {"url": house.stage.repository_url, "credential": "githost"}
    tools = {"polarion": ["ask_questions"], "spy": ["spy"]}
    house.hire("spied", tools=tools, repositories=[mine])
    agent = obeying(house, engine, order(house, "spied"))
    eventually(lambda: "spy" in listed(agent))
    yield agent
    agent.end()


@pytest.fixture(scope="module")
def spy(spied: Agent) -> Container:
    return box_of(spied, "spy")


def test_a_server_reaches_no_other_sandbox(spied: Agent, spy: Container) -> None:
    """From an MCP server's sandbox neither its run's agent nor any other sandbox is reached."""
    for port in (EXECD, 8080):
        tried = inside(spy, f"{CURL} http://{spied.address}:{port}/ping")
        assert tried.output == "000", tried


def test_a_server_opens_no_door(spied: Agent, spy: Container) -> None:
    """What a server shows to the egress proxy opens neither models nor git nor tools, and is recorded."""
    door = f"http://{spied.house.here.gateway}:8080"
    repository = spied.house.stage.repository_url.partition("://")[2]
    paths = ("/mcp", "/model/anthropic/v1/messages", f"/git/{repository}/info/refs")
    before = len(spied.house.lines())
    for path in paths:
        tried = inside(spy, f"{CURL} -H 'Authorization: Bearer {passport(spy)}' {door}{path}")
        assert tried.output == "403", (path, tried)
    denied = [line for line in spied.house.lines()[before:] if line.get("kind") == "auth"]
    assert [(line["run"], line["server"], line["decision"]) for line in denied] == [
        (spied.run["id"], "spy", "deny")
    ] * len(paths)


def test_no_secret_is_in_a_servers_sandbox(spied: Agent, spy: Container) -> None:
    """No secret is in an MCP server's sandbox, that of its own backend included: plain, hex or base64.

    That it would find one is seen by a canary.
    """
    server, canary, plain = Server(spy), secrets.token_urlsafe(32), "/workspace/.canary"
    half, other = canary[:20], canary[20:]
    server.do(f"A={half} B={other}; printf %s $A$B > {plain}")
    kept = [*key_files(spied.house.here.keys).values(), spied.run_token.encode()]
    assert hunt(server, [*kept, canary.encode()]) == [plain]


def test_a_server_reaches_its_backend_and_nothing_beside_it(spied: Agent, spy: Container) -> None:
    """A server's requests reach the one backend of its connection, as far as its secret goes, by the door."""
    told = environment_of(spy)
    shown = f"-H 'Authorization: Bearer {told['ALM_TOKEN']}' {told['ALM_URL']}"
    before = len(spied.house.lines())
    read = inside(spy, f"curl -s -m 10 {shown}/rest/v1/projects/DEMO").output
    assert '"id":"DEMO"' in read.replace(" ", "")
    token = polarion_token(spied.house.here).read_bytes().strip()
    assert not [form for form in forms_of(token) if form in read]
    for tried in (
        f"-X DELETE {shown}/rest/v1/projects/DEMO",
        f"{shown}/properties",
        f"--path-as-is {shown}/rest/v1/../../../x",
        f"--path-as-is {shown}//other.example/rest/v1/projects",
    ):
        assert inside(spy, f"{CURL} {tried}").output == "403", tried
    lines = [line for line in spied.house.lines()[before:] if line.get("rule") == "backend"]
    assert [line["decision"] for line in lines] == ["allow", *["deny"] * 4]
    assert {(line["run"], line["server"]) for line in lines} == {(spied.run["id"], "spy")}


def test_nobody_else_has_a_servers_backend(spied: Agent, spy: Container) -> None:
    """What opens a server's backend opens it from its own sandbox only, and a run token never does."""
    told = environment_of(spy)
    url = f"{told['ALM_URL']}/rest/v1/projects/DEMO"
    for token in (told["ALM_TOKEN"], spied.run_token, told["ALM_TOKEN"][:-1]):
        assert spied.do(f"{CURL} -H 'Authorization: Bearer {token}' {url}").output == "403"
    assert inside(spy, f"{CURL} -H 'Authorization: Bearer {spied.run_token}' {url}").output == "403"
    assert inside(spy, f"{CURL} {url}").output == "401"


def test_a_server_can_not_use_its_agents_token(spied: Agent, spy: Container) -> None:
    """A run token that an agent tells a server opens no door from there, and not the egress proxy."""
    gateway = spied.house.here.gateway
    shown = f"-H 'Authorization: Bearer {spied.run_token}'"
    assert inside(spy, f"{CURL} {shown} http://{gateway}:8080/mcp").output == "403"
    proxy = f"-x http://run:{spied.run_token}@{gateway}:8081"
    assert inside(spy, f"{CURL} {proxy} http://forbidden.example/").output == "403"


def test_nobody_else_has_a_servers_way_out(spied: Agent, spy: Container) -> None:
    """What a server shows to the egress proxy is good for its own sandbox, and for what its policy says."""
    proxy = f"-x http://run:{passport(spy)}@{spied.house.here.gateway}:8081"
    before = len(spied.house.lines())
    assert spied.do(f"{CURL} {proxy} http://forbidden.example/a").output == "403"
    assert inside(spy, f"{CURL} {proxy} http://forbidden.example/b").output == "403"
    theirs, own = [line for line in spied.house.lines()[before:] if line.get("door") == "egress"]
    assert "not one of this sandbox" in theirs["reason"]
    assert "server" not in theirs
    assert (own["run"], own["server"], own["kind"]) == (spied.run["id"], "spy", "http")


def test_a_servers_sandbox_has_the_walls_of_an_agents(spied: Agent, spy: Container) -> None:
    """The container of an MCP server differs from its agent's in its mounts and its image only."""
    kept = (
        "CapDrop",
        "SecurityOpt",
        "PidsLimit",
        "Memory",
        "NanoCpus",
        "NetworkMode",
        "Privileged",
    )
    own, agents = spy.attrs["HostConfig"], spied.container.attrs["HostConfig"]
    assert {key: own[key] for key in kept} == {key: agents[key] for key in kept}
    assert spy.attrs["Config"]["User"] == spied.container.attrs["Config"]["User"]
    shared = set(own["Binds"]) & set(agents["Binds"])
    assert all(bind.endswith(":ro") for bind in shared), "they share nothing that can be written"
    assert boxes(spied.house, spied.engine, str(spied.run["id"])).keys() == {"spy"}
