"""What is other than it was made is seen, whatever it calls itself; what only moves is not."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from orchestrator.adapters.firewall.form import unlike

DROP, COUNTER = {"drop": None}, {"counter": {"packets": 0}}
NAMED = {"counter": "dropped_rest"}
WANTED: dict[str, Any] = {
    "nftables": [
        {"metainfo": {"version": "1.0.6"}},
        {"table": {"family": "inet", "name": "sg1", "handle": 2}},
        {"set": {"name": "bind", "table": "sg1", "type": ["ifname", "ipv4_addr"], "handle": 5}},
        {"set": {"name": "doors", "table": "sg1", "elem": [{"concat": ["g", 1]}, {"concat": ["g", 2]}]}},
        {"chain": {"name": "input", "table": "sg1", "hook": "input", "prio": -10, "handle": 1}},
        {"rule": {"chain": "input", "comment": "a", "handle": 7, "expr": [{"jump": {"target": "x"}}]}},
        {"rule": {"chain": "input", "comment": "b", "handle": 8, "expr": [COUNTER, DROP]}},
        {"set": {"name": "dropped", "table": "sg1", "size": 2048, "flags": ["timeout"]}},
        {"counter": {"name": "dropped_rest", "packets": 0, "bytes": 0, "handle": 9}},
    ]
}  # fmt: skip


def entry(listing: dict[str, Any], at: int) -> dict[str, Any]:
    (facts,) = listing["nftables"][at].values()
    assert isinstance(facts, dict)
    return facts


def found(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    listing = deepcopy(WANTED)
    change(listing)
    return listing


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda x: entry(x, 1).update(handle=99), id="made again, under other handles"),
        pytest.param(
            lambda x: entry(x, 6)["expr"][0].update(counter={"packets": 7}), id="it has counted"
        ),
        pytest.param(lambda x: entry(x, 2).update(elem=["a"]), id="an address is registered"),
        pytest.param(
            lambda x: entry(x, 7).update(elem=[{"elem": {"counter": {"packets": 1}}}]),
            id="a flow was dropped",
        ),
        pytest.param(lambda x: entry(x, 8).update(packets=1, bytes=60), id="one without its flow"),
        pytest.param(lambda x: entry(x, 3)["elem"].reverse(), id="a set in another order"),
        pytest.param(
            lambda x: x["nftables"].insert(2, x["nftables"].pop(4)), id="parts in another"
        ),
    ],
)
def test_what_is_the_same_is_not_told(change: Callable[[dict[str, Any]], object]) -> None:
    assert unlike(found(change), WANTED) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param(
            lambda x: entry(x, 6).update(expr=[{"accept": None}]),
            "what chain input does was changed",
            id="another rule under the same name",
        ),
        pytest.param(
            lambda x: entry(x, 6).update(expr=[NAMED, DROP]),
            "what chain input does was changed",
            id="counted elsewhere",
        ),
        pytest.param(
            lambda x: x["nftables"].append(x["nftables"].pop(5)),
            "what chain input does was changed",
            id="rules in another order",
        ),
        pytest.param(
            lambda x: entry(x, 1).update(flags=["dormant"]),
            "the table itself was changed",
            id="switched off",
        ),
        pytest.param(
            lambda x: entry(x, 4).update(prio=10), "chain input was changed", id="hooked in later"
        ),
        pytest.param(
            lambda x: entry(x, 3)["elem"].append({"concat": ["g", 22]}),
            "set doors was changed",
            id="a door more",
        ),
        pytest.param(
            lambda x: entry(x, 7).update(size=1), "set dropped was changed", id="room for one flow"
        ),
        pytest.param(
            lambda x: entry(x, 8).update(comment="x"),
            "counter dropped_rest was changed",
            id="another counter",
        ),
        pytest.param(lambda x: x["nftables"].pop(3), "set doors is missing", id="a set is missing"),
        pytest.param(
            lambda x: x["nftables"].append({"map": {"name": "m"}}),
            "map m was added",
            id="a map more",
        ),
    ],
)
def test_what_is_other_is_named(change: Callable[[dict[str, Any]], object], said: str) -> None:
    assert unlike(found(change), WANTED) == [said]


def test_nothing_is_like_an_empty_listing() -> None:
    assert len(unlike({}, WANTED)) == 7
