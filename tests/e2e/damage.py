"""What somebody else on the host may do to an installation's nft table; each touches that table only."""

import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from orchestrator.adapters.firewall.nft import nft
from orchestrator.adapters.firewall.standing import listed
from orchestrator.adapters.firewall.table import Bridge


def delete(bridge: Bridge) -> None:
    nft("delete", "table", "inet", bridge.name)


def flush(bridge: Bridge) -> None:
    nft("flush", "table", "inet", bridge.name)


def open_a_door(bridge: Bridge) -> None:
    nft("-f", "-", stdin=f"add element inet {bridge.name} doors {{ {bridge.gateway} . 22 }}\n")


def switch_off(bridge: Bridge) -> None:
    nft("-f", "-", stdin=f"add table inet {bridge.name} {{ flags dormant; }}\n")


def change_a_rule(bridge: Bridge) -> None:
    """The last rule of the sandboxes' chain lets everything through, under its old name."""
    found = listed(bridge)
    assert found
    rules = [entry["rule"] for entry in found["nftables"] if "rule" in entry]
    (last,) = [rule for rule in rules if rule.get("comment") == "nothing else"]
    place = f"inet {bridge.name} from_sandbox handle {last['handle']}"
    nft("-f", "-", stdin=f'replace rule {place} counter accept comment "nothing else"\n')


DAMAGES: Mapping[str, Callable[[Bridge], None]] = {
    "deleted": delete,
    "flushed": flush,
    "a door more": open_a_door,
    "switched off": switch_off,
    "a rule changed under its name": change_a_rule,
}


@contextmanager
def taken_over(bridge: Bridge) -> Iterator[None]:
    """The table is gone, and belongs to a process that lets nobody else make it again."""
    with subprocess.Popen(
        ["nft", "-i"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    ) as owner:
        assert owner.stdin
        # Both in one line: nobody makes it again in between.
        owner.stdin.write(
            f"delete table inet {bridge.name}; add table inet {bridge.name} {{ flags owner; }}\n"
        )
        owner.stdin.flush()
        deadline = time.monotonic() + 10
        while "flags owner" not in nft("list", "table", "inet", bridge.name):
            assert time.monotonic() < deadline, "it was not taken over"
            time.sleep(0.01)
        yield
        owner.stdin.close()
