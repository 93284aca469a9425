"""A rule that means nothing can't be made."""

from typing import Any

import pytest

from proxy.rules import Limits, Mode, Rule, SandboxPolicy

HEX = "0" * 64


def test_what_isnt_said_is_the_narrow_side() -> None:
    rule = Rule(name="x", host="a.example")
    assert rule.methods == {"GET", "HEAD"}
    assert rule.opens("https", 443)
    assert not rule.opens("https", 80)
    assert not rule.opens("http", 80)
    assert (rule.splice, rule.upgrade, rule.approval) == (False, False, "")


def test_named_ports_are_the_only_ones() -> None:
    rule = Rule(name="x", host="a.example", ports=frozenset({8443}), schemes=frozenset({"https"}))
    assert rule.opens("https", 8443)
    assert not rule.opens("https", 443)


def test_an_allowing_rule_covers_all_readings_and_a_denying_one_any() -> None:
    two = frozenset({"/a", "/b"})
    assert not Rule(name="x", host="a.example", paths=("/a",)).covers(two)
    assert Rule(name="x", host="a.example", paths=("/a",), mode=Mode.DENY).covers(two)
    assert Rule(name="x", host="a.example", paths=("/a",), mode=Mode.HOLD).covers(two)


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"name": "honeytoken"},
        {"host": "10.0.0.1"},
        {"methods": frozenset({"get"})},
        {"methods": frozenset({"CONNECT"})},
        {"methods": frozenset({"TRACE"})},
        {"methods": frozenset()},
        {"paths": ()},
        {"paths": ("a",)},
        {"ports": frozenset({0})},
        {"ports": frozenset({65536})},
        {"schemes": frozenset()},
        {"uses": -1},
        {"max_bytes": -1},
        {"types": frozenset({"text"})},
        {"networks": ("10.0.0.0/33",)},
        {"splice": True, "paths": ("/a/**",)},
        {"splice": True, "schemes": frozenset({"http", "https"})},
    ],
)
def test_a_rule_that_means_nothing_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        Rule(**({"name": "x", "host": "a.example"} | wrong))


@pytest.mark.parametrize(
    "wrong",
    [
        {"address": "nowhere"},
        {"token_sha256": ""},
        {"token_sha256": "0" * 63 + "G"},
        {"rules": (Rule(name="x", host="a.example"), Rule(name="x", host="b.example"))},
    ],
)
def test_a_sandbox_that_nobody_can_be_is_refused(wrong: dict[str, Any]) -> None:
    right: dict[str, Any] = {"run": "r", "address": "10.0.0.2", "token_sha256": HEX}
    assert SandboxPolicy(**right).limits == Limits()
    with pytest.raises(ValueError, match=r"."):
        SandboxPolicy(**(right | wrong))


def test_a_network_of_a_rule_is_parsed() -> None:
    rule = Rule(name="x", host="a.example", networks=("10.5.0.0/16",))
    assert [str(one) for one in rule.dialable] == ["10.5.0.0/16"]
