"""Who gives tokens for a server, and what is believed of what is said about that."""

from typing import Any

import pytest

from entrance.errors import Forbidden, Malformed, SandgateError
from entrance.vault import discovery
from entrance.vault.discovery import Challenge

SERVER, ISSUER = "https://wiki.example/team/mcp", "https://id.example/tenant"


@pytest.mark.parametrize(
    ("told", "scopes", "metadata"),
    [
        (
            'Bearer error="invalid_token", scope="a b a", resource_metadata="https://wiki.example/x"',
            ("a", "b"),
            "https://wiki.example/x",
        ),
        ("bearer scope=a", ("a",), ""),
        ('Basic realm="x", Bearer scope="a"', ("a",), ""),
        ('Basic scope="a"', (), ""),
        ('Bearer scope="a\\"b c"', ("c",), ""),
        ('Bearer scope="unended', (), ""),
        ("", (), ""),
        ("Bearer", (), ""),
    ],
)
def test_a_challenge_says_what_is_wanted(told: str, scopes: tuple[str, ...], metadata: str) -> None:
    why = Challenge(401, told)
    assert (why.scopes, why.metadata) == (scopes, metadata)


MORE = 'Bearer error="insufficient_scope", scope="b"'


@pytest.mark.parametrize(
    ("status", "told", "had", "wanted"),
    [
        (401, 'Bearer scope="b"', ("a",), ("b",)),
        (401, "Bearer", ("a",), ()),
        (403, MORE, ("a",), ("a", "b")),
        (403, MORE, (), ("b",)),
        (403, MORE, ("a", "b"), None),
        (403, 'Bearer error="insufficient_scope"', ("a",), None),
        (403, 'Bearer error="invalid_token", scope="b"', ("a",), None),
        (403, "", ("a",), None),
        (500, MORE, ("a",), None),
    ],
)
def test_another_token_is_asked_for_only_where_it_would_be_another(
    status: int, told: str, had: tuple[str, ...], wanted: tuple[str, ...] | None
) -> None:
    assert Challenge(status, told).next_scopes(had) == wanted


def test_metadata_is_looked_for_where_the_server_says_and_then_at_the_known_places() -> None:
    known = "https://wiki.example/.well-known/oauth-protected-resource"
    assert discovery.resource_places(SERVER, "") == [f"{known}/team/mcp", known]
    own = "https://wiki.example/meta"
    assert discovery.resource_places(SERVER, own) == [own, f"{known}/team/mcp", known]
    assert discovery.issuer_places(ISSUER) == [
        "https://id.example/.well-known/oauth-authorization-server/tenant",
        "https://id.example/.well-known/openid-configuration/tenant",
        "https://id.example/tenant/.well-known/openid-configuration",
    ]
    assert discovery.issuer_places("https://id.example/")[0].endswith("oauth-authorization-server")


@pytest.mark.parametrize(
    "told",
    [
        "https://evil.example/meta",
        "http://wiki.example/meta",
        "https://wiki.example@evil.example/meta",
        "https://wiki.example:8443/meta",
        "//wiki.example/meta",
        "http://[wiki",
    ],
)
def test_no_metadata_is_fetched_from_another_host(told: str) -> None:
    with pytest.raises(Forbidden):
        discovery.resource_places(SERVER, told)


@pytest.mark.parametrize(
    "resource",
    [SERVER, "https://wiki.example/team", "https://wiki.example", "https://WIKI.example/"],
)
def test_a_token_is_for_the_server_or_for_what_it_is_below(resource: str) -> None:
    told = {"resource": resource, "authorization_servers": ["https://x.example", ISSUER]}
    assert discovery.resource_in(told, SERVER, ISSUER).resource == resource


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"resource": "https://evil.example/team/mcp"}, Forbidden),
        ({"resource": "https://wiki.example/te"}, Forbidden),
        ({"resource": f"{SERVER}/deeper"}, Forbidden),
        ({"resource": f"{SERVER}?a=b"}, Forbidden),
        ({"resource": "http://[x"}, Forbidden),
        ({"resource": 7}, Malformed),
        ({"authorization_servers": []}, Forbidden),
        ({"authorization_servers": ["https://id.example/other"]}, Forbidden),
        ({"authorization_servers": "https://id.example/tenant"}, Malformed),
    ],
)
def test_metadata_of_another_server_is_not_believed(
    change: dict[str, Any], error: type[SandgateError]
) -> None:
    told = {"resource": SERVER, "authorization_servers": [ISSUER]} | change
    with pytest.raises(error):
        discovery.resource_in(told, SERVER, ISSUER)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://id.example", "https://id.example/", True),
        (ISSUER, ISSUER, True),
        (ISSUER, f"{ISSUER}/", False),
        (ISSUER, "https://id.example", False),
        ("https://id.example", "https://ID.example", False),
    ],
)
def test_an_issuer_is_compared_letter_by_letter(one: str, other: str, *, same: bool) -> None:
    assert discovery.same_issuer(one, other) is same
