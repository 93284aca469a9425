"""A public MCP server for Polarion, unmodified, in a sandbox of its own, with a token that it never sees."""

import io
import sys
import tarfile
import time
from pathlib import Path

import pytest
from docker.models.containers import Container

from orchestrator.stack.services import LOOPBACK, polarion_token
from tests.e2e.escape.agent import Agent
from tests.e2e.house import House, eventually
from tests.e2e.servers.boxes import boxes, environment_of
from tests.e2e.servers.conftest import PYPI, connect, server_item
from tests.e2e.servers.talking import called, listed

pytestmark = [
    pytest.mark.docker,
    pytest.mark.timeout(600),
    pytest.mark.skipif(sys.version_info < (3, 13), reason="the server needs Python 3.13"),
]

SERVER = "mcp-server-polarion==2.1.0"
PYTHON = f"/workspace/python/bin/python{sys.version_info.major}.{sys.version_info.minor}"
COMMAND = (
    "until [ -e /workspace/python/there ]; do sleep 0.1; done;"
    f"LD_LIBRARY_PATH=/workspace/python/lib exec uvx -p {PYTHON} {SERVER}"
)
ENVIRONMENT = "POLARION_URL=${BACKEND_URL}\nPOLARION_TOKEN=${BACKEND_TOKEN}"
LEFT_OUT = {"__pycache__", "idlelib", "site-packages", "dist-packages", "test", "tkinter"}
WITHIN_S = 400


@pytest.fixture(scope="module")
def connected(served: House) -> House:
    """The house, with the server in its Agent Pool, and its Polarion as the server's backend."""
    polarion = f"{LOOPBACK}:{served.here.ports.polarion}"
    token = polarion_token(served.here).read_text().strip()
    sealed = {"value": token, "hosts": [polarion], "kind": "polarion"}
    served.runner.put("/api/secrets/alm-token", sealed)
    backend = {"url": f"http://{polarion}", "secret": "alm-token"}
    command = f"sh -c '{COMMAND}'"
    connect(served, server_item("alm", command, PYPI, environment=ENVIRONMENT, **backend))
    return served


@pytest.fixture(scope="module")
def alm(connected: House, user: Agent) -> Agent:
    """The agent, once that server is there."""
    assert user.house == connected
    eventually(lambda: bool(listed(user)) and "alm" in own_boxes(user))
    give_python(own_boxes(user)["alm"])
    until = time.monotonic() + WITHIN_S
    while "get_work_item" not in listed(user):
        assert time.monotonic() < until, "the server doesn't come"
    return user


def own_boxes(agent: Agent) -> dict[str, Container]:
    return dict(boxes(agent.house, agent.engine, str(agent.run["id"])))


def give_python(box: Container) -> None:
    """This Python, as the sandbox's may be too old for the server."""
    base, name = Path(sys.base_prefix), Path(PYTHON).name

    def owned(info: tarfile.TarInfo) -> tarfile.TarInfo | None:
        info.uid = info.gid = 10001
        last = Path(info.name).name
        return None if last in LEFT_OUT or last.startswith("config-") else info

    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        tar.add(base / "bin" / name, f"python/bin/{name}", filter=owned)
        tar.add(base / "lib" / name, f"python/lib/{name}", filter=owned)
        for library in (base / "lib").glob(f"lib{name}*.so*"):
            tar.add(library, f"python/lib/{library.name}", filter=owned)
        tar.addfile(tarfile.TarInfo("python/there"))
    assert box.put_archive("/workspace", packed.getvalue())


def test_it_reads_a_work_item_and_never_sees_the_token(alm: Agent) -> None:
    house, item = alm.house, alm.item
    text, failed = called(alm, "get_work_item", project_id="DEMO", work_item_id=item)
    assert not failed, text
    assert "OBEY, user" in text
    token = polarion_token(house.here).read_text().strip()
    own = environment_of(own_boxes(alm)["alm"])
    assert own["POLARION_TOKEN"] != token
    assert not [name for name, value in own.items() if token in value]
    asked = [line for line in house.lines() if line.get("rule") == "backend"]
    theirs = [line for line in asked if line["run"] == alm.run["id"]]
    assert {(line["decision"], line["server"], line["door"]) for line in theirs} == {
        ("allow", "alm", "entrance")
    }
    assert any(item in line["url"] for line in theirs)
