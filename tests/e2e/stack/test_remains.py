"""What two installations leave in one engine: purging one takes all of it, and nothing of the other."""

import contextlib
import io
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import docker
import pytest

from orchestrator.adapters.firewall.nft import nft
from orchestrator.stack import network
from orchestrator.stack.down import down, purge
from orchestrator.stack.installation import LABEL, Installation
from orchestrator.stack.wiring import bridge_of
from tests.e2e import damage

pytestmark = [pytest.mark.docker, pytest.mark.timeout(180)]


@pytest.fixture
def engine() -> Iterator[docker.DockerClient]:
    with contextlib.closing(docker.from_env(timeout=60)) as client:
        yield client


def furnish(engine: docker.DockerClient, home: Path) -> Installation:
    """An installation with everything that one has in an engine; nothing of it runs."""
    here = Installation.open(home, create=True)
    network.ensure(engine, bridge_of(here))
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as tar:
        tar.addfile(tarfile.TarInfo(here.name))
    tag = f"sandgate/{here.name}-sandbox:test"
    engine.api.import_image_from_data(layer.getvalue(), *tag.split(":"))
    for labels in ({"installation": here.name, "task": "DEMO/DEMO-1"}, {LABEL: here.name}):
        engine.containers.create(tag, ["/nothing"], labels=labels, network=here.network)
    engine.volumes.create(f"{here.name}-tmp", labels={LABEL: here.name})
    return here


def remains(engine: docker.DockerClient, here: Installation) -> dict[str, int]:
    """How much of each kind there is of it."""
    containers = engine.containers.list(all=True, ignore_removed=True)
    tables = nft("list", "tables")
    return {
        "containers": sum(here.name in str(each.labels) for each in containers),
        "volumes": len(engine.volumes.list(filters={"label": f"{LABEL}={here.name}"})),
        "networks": len(engine.networks.list(names=[f"^{here.name}$"])),
        "images": sum(here.name in str(each.tags) for each in engine.images.list()),
        "tables": tables.count(here.name),
    }


ALL = {"containers": 2, "volumes": 1, "networks": 1, "images": 1, "tables": 1}
NONE = dict.fromkeys(ALL, 0)


@contextlib.contextmanager
def foreign_rules(name: str) -> Iterator[Callable[[], str]]:
    """Tables of somebody else's, some with names like ours; how they are, to the last byte."""
    tables = [f"inet {name}x", f"ip {name}", f"inet x{name}", f"bridge {name}"]
    inside = """{
        set bind { type ipv4_addr; elements = { 10.0.0.2, 10.0.0.3 } }
        chain input { type filter hook input priority -10; policy accept; }
        chain from_sandbox {
            ip saddr @bind accept comment "registered only"
        }
    }"""
    text = "".join(f"table {table} {inside}\n" for table in tables)
    nft("-f", "-", stdin=text)
    try:
        yield lambda: "".join(nft("-a", "list", "table", *table.split()) for table in tables)
    finally:
        nft("-f", "-", stdin="".join(f"delete table {table}\n" for table in tables))


def test_rules_that_are_not_ours_stay_as_they_are(
    engine: docker.DockerClient, tmp_path: Path
) -> None:
    """Made, mended, made again and purged: not a byte of another table changes."""
    here = Installation.open(tmp_path / "home", create=True)
    bridge = bridge_of(here)
    with foreign_rules(here.network) as foreign:
        before = foreign()
        network.ensure(engine, bridge)
        for damaged in damage.DAMAGES.values():
            damaged(bridge)
            network.ensure(engine, bridge)
        assert foreign() == before
        assert f"removed nft table {here.name}" in list(purge(here))
        assert foreign() == before
        assert f"table inet {here.name}\n" not in nft("list", "tables")


def test_each_takes_only_its_own(engine: docker.DockerClient, tmp_path: Path) -> None:
    one, two = furnish(engine, tmp_path / "one"), furnish(engine, tmp_path / "two")
    try:
        assert remains(engine, one) == remains(engine, two) == ALL
        said = list(down(one))
        assert len(said) == 3, "two containers and a volume"
        assert remains(engine, one) == {**ALL, "containers": 0, "volumes": 0}
        assert remains(engine, two) == ALL
        said = list(purge(one))
        assert said == [
            f"removed network {one.name}",
            f"removed nft table {one.name}",
            f"removed image sandgate/{one.name}-sandbox:test",
            f"removed {one.home}",
        ]
        assert remains(engine, one) == NONE
        assert remains(engine, two) == ALL
    finally:
        for here in (one, two):
            if here.home.exists():
                list(purge(here))
    assert remains(engine, two) == NONE
    assert not two.home.exists()
