"""Connections from inside the sandbox are told from the runner's."""

import pytest

from execd.server import is_inside


@pytest.mark.parametrize(
    ("peer", "own", "inside"),
    [
        pytest.param("10.1.2.1", "10.1.2.7", False, id="the runner, from the bridge's gateway"),
        pytest.param("127.0.0.1", "127.0.0.1", True, id="loopback"),
        pytest.param("127.9.9.9", "127.0.0.1", True, id="another loopback address"),
        pytest.param("127.0.0.1", "10.1.2.7", True, id="loopback to the own address"),
        pytest.param("10.1.2.7", "127.0.0.1", True, id="the own address to loopback"),
        pytest.param("10.1.2.7", "10.1.2.7", True, id="the own address to itself"),
    ],
)
def test_who_calls_from_inside(peer: str, own: str, inside: bool) -> None:  # noqa: FBT001  # a table
    assert is_inside(peer, own) is inside
