"""What a ClientHello must say to go through unopened."""

import pytest

from proxy.decision import Cause, Deny
from proxy.tunnels import _hello_flaw, _hello_in


@pytest.mark.parametrize("sni", ["a.example", "A.Example."])
def test_it_names_the_tunnels_host(sni: str) -> None:
    assert _hello_flaw(sni, [0, 16], "a.example") is None


@pytest.mark.parametrize("sni", [None, "", "b.example", "10.0.0.1"])
def test_one_that_names_another_or_nobody_is_refused(sni: str | None) -> None:
    found = _hello_flaw(sni, [0, 16], "a.example")
    assert found is not None
    assert found.cause is Cause.DISAGREEMENT


def test_one_that_hides_a_second_name_is_refused() -> None:
    found = _hello_flaw("a.example", [0, 0xFE0D], "a.example")
    assert found is not None
    assert "encrypted" in found.reason


def test_one_that_never_comes_to_its_end_is_not_waited_for() -> None:
    begun = b"\x16\x03\x01\x40\x00\x01\x00\xff\xff\x03\x03"
    assert _hello_in(begun) is None
    assert isinstance(_hello_in(begun + b"\0" * (70 << 10)), Deny)
    assert isinstance(_hello_in(b"GET / HTTP/1.1\r\n\r\n"), Deny)
