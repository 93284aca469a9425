"""What a table has dropped, read from its listing and written into the next one."""

from typing import Any

from orchestrator.adapters.firewall.counting import counted_in, written
from orchestrator.domain.dropped import Count, Counted, Flow


def element(*key: object, packets: int = 1) -> dict[str, Any]:
    """As nft lists an element of a set that counts."""
    counter = {"packets": packets, "bytes": 60 * packets}
    return {"elem": {"val": {"concat": list(key)}, "expires": 21000, "counter": counter}}


def listing(**sets: list[Any]) -> dict[str, Any]:
    entries = [{"set": {"name": name, "elem": elements}} for name, elements in sets.items()]
    return {"nftables": [{"table": {"name": "sg1"}}, *entries]}


FULL = Counted(
    7,
    {
        Flow(3, "10.0.0.2", "10.0.0.1", "tcp", 22): Count(2, 120),
        Flow(4, "10.0.0.2", "192.0.2.1", "icmp", 0): Count(1, 60),
        Flow(3, "10.0.0.9", "", "udp", 0): Count(5, 300),
        Flow(1, "fe80::1", "ff02::2", "ipv6-icmp", 0): Count(3, 180),
        Flow(): Count(9, 540),
    },
)


def full() -> dict[str, Any]:
    found = listing(
        generation=[7],
        dropped=[
            element(3, "10.0.0.2", "10.0.0.1", "tcp", 22, packets=2),
            element(4, "10.0.0.2", "192.0.2.1", "icmp", 0),
        ],
        dropped_by=[element(3, "10.0.0.9", "udp", packets=5)],
        dropped_ipv6=[element(1, "fe80::1", "ff02::2", "ipv6-icmp", 0, packets=3)],
    )
    found["nftables"].append({"counter": {"name": "dropped_rest", "packets": 9, "bytes": 540}})
    return found


def test_every_count_of_a_listing_is_read() -> None:
    assert counted_in(full()) == FULL


def test_a_table_that_just_was_made_has_dropped_nothing() -> None:
    found = listing(generation=[7])
    found["nftables"].append({"counter": {"name": "dropped_rest", "packets": 0, "bytes": 0}})
    assert counted_in(found) == Counted(7)


def test_without_a_generation_nothing_is_known() -> None:
    assert counted_in({}) is None
    assert counted_in(listing(dropped=[element(3, "10.0.0.2", "10.0.0.1", "tcp", 22)])) is None
    assert counted_in(listing(generation=[7, 8])) is None


def test_what_is_no_count_is_left_out_and_never_written_into_a_table() -> None:
    found = listing(
        generation=[7],
        dropped=[
            element(3, "10.0.0.2 } accept", "10.0.0.1", "tcp", 22),
            element(3, "10.0.0.2", "10.0.0.1", "tcp }", 22),
            element(3, "10.0.0.2", "10.0.0.1", "tcp", "22; drop"),
            element(3, "10.0.0.2"),
            {"elem": {"val": "x"}},
            "x",
        ],
    )
    assert counted_in(found) == Counted(7)


def test_the_next_table_goes_on_where_the_last_one_was() -> None:
    text = "\n".join(written(FULL))
    for part in (
        "set generation { type mark; elements = { 7 } }",
        "3 . 10.0.0.2 . 10.0.0.1 . tcp . 22 counter packets 2 bytes 120",
        "4 . 10.0.0.2 . 192.0.2.1 . icmp . 0 counter packets 1 bytes 60",
        "elements = { 3 . 10.0.0.9 . udp counter packets 5 bytes 300 }",
        "elements = { 1 . fe80::1 . ff02::2 . ipv6-icmp . 0 counter packets 3 bytes 180 }",
        "counter dropped_rest { packets 9 bytes 540 }",
    ):
        assert part in text
