"""Was a request meant for this door?"""

import pytest

from entrance.mcp.hosts import foreign


@pytest.mark.parametrize(
    ("own", "hosts", "origins", "is_foreign"),
    [
        ("172.18.0.1", ["172.18.0.1:8080"], [], False),
        ("172.18.0.1", ["172.18.0.1"], ["http://172.18.0.1:8080"], False),
        ("127.0.0.1", ["localhost:1"], ["http://localhost:1"], False),
        ("127.0.0.1", ["127.0.0.1"], [], False),
        ("::1", ["[::1]:80"], [], False),
        ("172.18.0.1", ["localhost"], [], True),
        ("172.18.0.1", ["127.0.0.1"], [], True),
        ("172.18.0.1", ["evil.example"], [], True),
        ("172.18.0.1", ["172.18.0.1.evil.example"], [], True),
        ("172.18.0.1", ["172.18.0.1@evil.example"], [], True),
        ("172.18.0.1", ["evil.example@172.18.0.1"], [], True),
        ("172.18.0.1", ["172.18.0.1"], ["http://evil.example"], True),
        ("172.18.0.1", ["172.18.0.1"], ["null"], True),
        ("172.18.0.1", ["172.18.0.1", "evil.example"], [], True),
        ("172.18.0.1", [], [], True),
        ("172.18.0.1", ["172.18.0.1:99999"], [], True),
        ("", ["172.18.0.1"], [], True),
    ],
)
def test_only_the_doors_own_address_is_meant_for_it(
    own: str, hosts: list[str], origins: list[str], *, is_foreign: bool
) -> None:
    assert bool(foreign(own, hosts, origins)) is is_foreign
