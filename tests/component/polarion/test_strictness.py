"""Lenient by default, as Polarion is; strict for our own tests, so that nothing relies on leniency."""

import pytest

from tests.servers.polarion import PolarionServer, Reply, Wire, wire_to


def require_400(reply: Reply) -> None:
    assert reply.status == 400, reply.body
    assert reply.error["detail"]


async def test_a_dangling_link_is_stored_as_polarion_stores_it(wire: Wire, project: str) -> None:
    """Lenient by default: unknown options, keys and targets are kept, a bad priority becomes the default."""
    attributes = {
        "type": "task",
        "title": "T",
        "status": "imaginary",
        "priority": "urgent",
        "extra": "x",
    }
    made = await wire.ask(
        "POST",
        f"/projects/{project}/workitems",
        json={"data": [{"type": "workitems", "attributes": attributes}]},
    )
    item = made.json["data"][0]["id"]
    path = f"/projects/{project}/workitems/{item.split('/')[1]}"
    reply = await wire.ask(
        "POST", f"{path}/linkedworkitems", json={"data": [_link("nonsense", "NO/WHERE-1")]}
    )
    assert reply.status == 201
    read = await wire.ask("GET", f"{path}?fields%5Bworkitems%5D=%40all")
    shown = read.json["data"]["attributes"]
    assert (shown["status"], shown["priority"], shown["extra"]) == ("imaginary", "50.0", "x")


@pytest.mark.parametrize(
    ("attributes", "pointer"),
    [
        ({"type": "nonsense", "title": "T"}, "attributes.type"),
        ({"type": "task", "status": "imaginary"}, "attributes.status"),
        ({"type": "task", "priority": "urgent"}, "attributes.priority"),
        ({"type": "task", "extra": "x"}, "attributes.extra"),
        ({"type": "agent", "harness": "nonsense"}, "attributes.harness"),
    ],
)
async def test_a_strict_server_refuses_what_polarion_would_swallow(
    strict_server: PolarionServer, attributes: dict[str, str], pointer: str
) -> None:
    """CASE-111: so that our own code never relies on the leniency."""
    rows = [{"type": "workitems", "attributes": attributes}]
    async with wire_to(strict_server.base) as wire:
        reply = await wire.ask("POST", "/projects/AGENTS/workitems", json={"data": rows})
    require_400(reply)
    assert reply.error["source"]["pointer"] == f"$.data[0].{pointer}"


async def test_a_strict_server_checks_links_and_users(strict_server: PolarionServer) -> None:
    good = {"type": "workitems", "attributes": {"type": "skill", "title": "S"}}
    async with wire_to(strict_server.base) as wire:
        made = await wire.ask("POST", "/projects/AGENTS/workitems", json={"data": [good]})
        item = made.json["data"][0]["id"].split("/")[1]
        path = f"/projects/AGENTS/workitems/{item}/linkedworkitems"
        for link in (
            _link("nonsense", f"AGENTS/{item}"),
            _link("relates_to", "AGENTS/AG-999"),
            _link("uses_skill", f"AGENTS/{item}"),
        ):
            require_400(await wire.ask("POST", path, json={"data": [link]}))
        assert (
            await wire.ask("POST", path, json={"data": [_link("relates_to", f"AGENTS/{item}")]})
        ).status == 201
        ghost = {
            **good,
            "relationships": {"assignee": {"data": [{"type": "users", "id": "ghost"}]}},
        }
        require_400(await wire.ask("POST", "/projects/AGENTS/workitems", json={"data": [ghost]}))


def _link(role: str, target: str) -> dict[str, object]:
    return {
        "type": "linkedworkitems",
        "attributes": {"role": role},
        "relationships": {"workItem": {"data": {"type": "workitems", "id": target}}},
    }
