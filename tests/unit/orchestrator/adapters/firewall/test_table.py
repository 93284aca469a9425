"""The nft table as text, and what is wrong with one that was found."""

from copy import deepcopy
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network
from typing import Any

import pytest

from entrance.errors import Forbidden, Malformed
from orchestrator.adapters.firewall.rules import HOOKS, NAMES, PRIORITY, RULES
from orchestrator.adapters.firewall.table import (
    Bridge,
    chains_of,
    flaws,
    parse_listing,
    registered_in,
    table_text,
)
from orchestrator.domain.dropped import Counted

ANEW = Counted(1)
BRIDGE = Bridge(
    name="sgabc123",
    interface="sgabc123b0",
    subnet=IPv4Network("10.77.3.0/24"),
    gateway=IPv4Address("10.77.3.1"),
    doors=(8080, 8081),
)


def listing(bridge: Bridge = BRIDGE, addresses: tuple[str, ...] = ()) -> dict[str, Any]:
    """The table as `nft -j` lists it when it stands whole."""
    entries: list[dict[str, Any]] = [
        {"metainfo": {"version": "1.0.6"}},
        {"table": {"name": bridge.name}},
    ]
    for chain, rules in chains_of(bridge).items():
        hook = {"hook": chain, "prio": PRIORITY} if chain in HOOKS else {}
        entries.append({"chain": {"name": chain, **hook}})
        entries += [{"rule": {"chain": chain, "comment": comment}} for _, comment in rules]
    bind = [{"concat": [bridge.interface, address]} for address in addresses]
    doors = [{"concat": [str(bridge.gateway), port]} for port in bridge.doors]
    entries.append({"set": {"name": "generation", "elem": [1]}})
    entries.append({"set": {"name": "bind", "elem": bind}} if bind else {"set": {"name": "bind"}})
    entries.append({"set": {"name": "doors", "elem": doors}})
    return {"nftables": entries}


def test_the_text_replaces_the_whole_table_in_one_transaction() -> None:
    lines = table_text(BRIDGE, [], ANEW).splitlines()
    assert lines[:3] == [
        "table inet sgabc123",
        "delete table inet sgabc123",
        "table inet sgabc123 {",
    ]


def test_execd_may_answer_before_the_address_is_looked_at() -> None:
    names = [rule.name for rule in RULES if rule.chain == "from_sandbox"]
    assert names.index("execd answers") < names.index("registered only")


def test_taking_an_address_out_cuts_what_is_established() -> None:
    names = [rule.name for rule in RULES if rule.chain == "from_sandbox"]
    assert names.index("registered only") < names.index("replies")


@pytest.mark.parametrize("chain", ["from_sandbox", "forward", "output"])
def test_every_chain_ends_in_a_drop_that_is_counted(chain: str) -> None:
    last = [rule for rule in RULES if rule.chain == chain][-1]
    assert last.written({"interface": "b0"}).endswith(f"meta mark set {last.drops} goto dropped")


def test_nothing_leaves_the_chain_of_what_is_dropped() -> None:
    """Each of its rules drops, and the last one without a condition."""
    rules = [rule for rule in RULES if rule.chain == "dropped"]
    assert all(rule.text.endswith(" drop") for rule in rules)
    assert rules[-1].text == "counter name dropped_rest drop"


def test_every_rule_that_drops_says_why_and_has_a_number_of_its_own() -> None:
    drops = [rule for rule in RULES if rule.drops]
    assert len({rule.drops for rule in drops}) == len(drops) == len(NAMES)
    assert all(rule.why for rule in drops)


def test_only_the_doors_of_the_gateway_are_in_the_text() -> None:
    text = table_text(BRIDGE, [], ANEW)
    assert "elements = { 10.77.3.1 . 8080, 10.77.3.1 . 8081 }" in text


def test_registered_addresses_survive_a_reload() -> None:
    text = table_text(BRIDGE, [IPv4Address("10.77.3.9"), IPv4Address("10.77.3.2")], ANEW)
    assert 'elements = { "sgabc123b0" . 10.77.3.2, "sgabc123b0" . 10.77.3.9 }' in text


def test_a_whole_table_has_no_flaw() -> None:
    assert flaws(listing(), BRIDGE) == []


@pytest.mark.parametrize("chain", ["dropped", "from_sandbox", *HOOKS])
def test_a_rule_less_is_a_flaw(chain: str) -> None:
    found = listing()
    rule = next(e for e in found["nftables"] if e.get("rule", {}).get("chain") == chain)
    found["nftables"].remove(rule)
    assert flaws(found, BRIDGE) == [f"chain {chain} does not hold exactly its rules"]


def test_a_rule_more_is_a_flaw() -> None:
    found = listing()
    found["nftables"].insert(3, {"rule": {"chain": "from_sandbox", "comment": ""}})
    assert flaws(found, BRIDGE) == ["chain from_sandbox does not hold exactly its rules"]


def test_rules_in_another_order_are_a_flaw() -> None:
    found = listing()
    at = [i for i, e in enumerate(found["nftables"]) if e.get("rule", {}).get("chain") == "output"]
    entries = found["nftables"]
    entries[at[0]], entries[at[1]] = entries[at[1]], entries[at[0]]
    assert flaws(found, BRIDGE) == ["chain output does not hold exactly its rules"]


@pytest.mark.parametrize("hook", list(HOOKS))
def test_a_chain_that_is_not_hooked_in_is_a_flaw(hook: str) -> None:
    found = listing()
    for entry in found["nftables"]:
        if entry.get("chain", {}).get("name") == hook:
            del entry["chain"]["hook"]
    assert flaws(found, BRIDGE) == [f"chain {hook} is not hooked in at priority -10"]


def test_a_table_that_does_not_say_since_when_it_counts_is_made_again() -> None:
    found = listing()
    found["nftables"] = [
        e for e in found["nftables"] if e.get("set", {}).get("name") != "generation"
    ]
    assert flaws(found, BRIDGE) == ["it does not say since when it counts"]


def test_an_empty_answer_is_all_flaws() -> None:
    """CASE-20: a missing or flushed table is never taken for a firewall."""
    assert len(flaws({"nftables": []}, BRIDGE)) == len(HOOKS) * 2 + 4


def test_a_door_more_is_a_flaw() -> None:
    found = deepcopy(listing())
    found["nftables"][-1]["set"]["elem"].append({"concat": ["10.77.3.1", 22]})
    assert flaws(found, BRIDGE) == ["set doors does not name exactly the doors"]


def test_a_table_made_for_other_doors_is_not_taken_for_this_one() -> None:
    old = listing(replace(BRIDGE, doors=(8080,)))
    assert "chain input does not hold exactly its rules" in flaws(old, BRIDGE)


def test_registered_addresses_are_read_for_our_bridge_only() -> None:
    found = listing(addresses=("10.77.3.5", "10.77.3.6"))
    found["nftables"][-2]["set"]["elem"].append({"concat": ["other0", "10.9.9.9"]})
    assert registered_in(found, BRIDGE) == {IPv4Address("10.77.3.5"), IPv4Address("10.77.3.6")}


@pytest.mark.parametrize("address", ["10.77.3.1", "10.77.3.0", "10.77.3.255", "10.77.4.2", "x", ""])
def test_what_is_no_sandbox_address_is_never_registered(address: str) -> None:
    with pytest.raises(Forbidden):
        BRIDGE.member(address)


def test_a_sandbox_address_is_one() -> None:
    assert BRIDGE.member("10.77.3.2") == IPv4Address("10.77.3.2")


@pytest.mark.parametrize("text", ["", "[]", "table inet x {"])
def test_what_is_no_json_object_is_malformed(text: str) -> None:
    with pytest.raises(Malformed):
        parse_listing(text)
