"""The probe's judgement: whatever gets through, or says nothing, is not ok."""

from ipaddress import IPv4Address, IPv4Network

import pytest

from orchestrator.adapters.firewall.probe import (
    Check,
    Surroundings,
    checks_for,
    evaluate,
    resolvers_in,
)
from orchestrator.adapters.firewall.table import Bridge

BRIDGE = Bridge(
    name="sgabc123",
    interface="sgabc123b0",
    subnet=IPv4Network("10.77.3.0/24"),
    gateway=IPv4Address("10.77.3.1"),
    doors=(8080, 8081),
)
CHECKS = checks_for(
    BRIDGE,
    Surroundings(addresses=("192.0.2.9", "fd00::9"), resolvers=("192.0.2.53",)),
    sibling="10.77.3.253",
    port=40001,
    outside=("198.51.100.7", 443),
)


def green() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {"sandbox": {}, "sibling": {}}
    for check in CHECKS:
        found[check.who][check.name] = check.expected
    return found


def test_names_of_checks_are_unique() -> None:
    assert len({(check.who, check.name) for check in CHECKS}) == len(CHECKS)


@pytest.mark.parametrize(
    "target",
    [
        ("tcp", ("10.77.3.1", 8080)),
        ("tcp", ("10.77.3.1", 40001)),
        ("tcp", ("192.0.2.9", 40001)),
        ("tcp", ("fd00::9", 40001)),
        ("tcp", ("10.77.3.253", 44772)),
        ("dns", ("127.0.0.11",)),
        ("dns", ("10.77.3.1",)),
        ("dns", ("192.0.2.53",)),
        ("tcp", ("198.51.100.7", 443)),
        ("tcp", ("169.254.169.254", 80)),
        ("socket", (40, 1, 0)),
    ],
)
def test_every_known_way_out_is_tried(target: tuple[str, tuple[str | int, ...]]) -> None:
    """CASE-01, CASE-04, CASE-17, CASE-18, CASE-19, CASE-21: each has its check."""
    assert target in {(check.how, check.arguments) for check in CHECKS}


def test_all_as_expected_is_ok() -> None:
    assert all(finding.ok for finding in evaluate(CHECKS, green()))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_any_single_surprise_is_found(check: Check) -> None:
    found = green()
    found[check.who][check.name] = "closed" if check.expected == "reached" else "reached"
    assert [f.check for f in evaluate(CHECKS, found) if not f.ok] == [check.name]


@pytest.mark.parametrize("who", ["sandbox", "sibling"])
def test_a_container_that_said_nothing_has_failed(who: str) -> None:
    found = green()
    del found[who]
    failed = {f.check for f in evaluate(CHECKS, found) if not f.ok}
    assert failed == {check.name for check in CHECKS if check.who == who}


def test_a_refused_connection_is_not_a_closed_one() -> None:
    """Something let the packet through, or there would be no answer."""
    found = green()
    found["sandbox"]["sibling's execd"] = "refused"
    assert [f.check for f in evaluate(CHECKS, found) if not f.ok] == ["sibling's execd"]


def test_resolvers_are_those_that_a_sandbox_could_reach() -> None:
    text = "# x\nnameserver 127.0.0.53\nnameserver 192.0.2.53\nnameserver fd00::53\noptions x\n"
    assert resolvers_in(text) == ("192.0.2.53",)
