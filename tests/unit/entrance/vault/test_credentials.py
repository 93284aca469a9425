"""Where a secret may go, and that it shows itself nowhere."""

import base64
import copy
import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrance.decision import Allow, Deny
from entrance.vault.credentials import Binding, Credential, binding_of
from entrance.vault.kinds import KINDS, SchemeName

VALUE = "s3cr3t-value-0123"
ANTHROPIC = binding_of("anthropic", ("api.anthropic.com", "127.0.0.1:8123", "http://llm.corp:80"))
MESSAGES = "/v1/messages"


@pytest.mark.parametrize(
    "url",
    [
        "https://api.anthropic.com/v1/messages",
        "https://API.anthropic.com:443/v1/messages?beta=true",
        "http://127.0.0.1:8123/v1/messages",
        "https://127.0.0.1:8123/v1/messages",
        "http://llm.corp/team/v1/messages/count_tokens",
    ],
)
def test_a_secret_goes_where_it_is_bound_to(url: str) -> None:
    assert ANTHROPIC.allows("POST", url) == Allow()


@pytest.mark.parametrize(
    ("method", "url"),
    [
        pytest.param("POST", "https://evil.example/v1/messages", id="another host"),
        pytest.param("POST", "https://api.anthropic.com.evil.example/v1/messages", id="a suffix"),
        pytest.param("POST", "https://xapi.anthropic.com/v1/messages", id="a prefix"),
        pytest.param("POST", "https://api.anthropic.com:8443/v1/messages", id="another port"),
        pytest.param("POST", "http://api.anthropic.com/v1/messages", id="in the clear"),
        pytest.param("POST", "https://llm.corp/v1/messages", id="https where http is bound"),
        pytest.param("POST", "http://127.0.0.1:8124/v1/messages", id="a neighbour's port"),
        pytest.param("GET", "https://api.anthropic.com/v1/messages", id="another method"),
        pytest.param("post", "https://api.anthropic.com/v1/messages", id="a method in lower case"),
        pytest.param("POST", "https://api.anthropic.com/v1/files", id="another path"),
        pytest.param("POST", "https://api.anthropic.com/v1/messages/", id="a trailing slash"),
        pytest.param("POST", "https://api.anthropic.com/x/../v1/messages", id="dots"),
        pytest.param("POST", "https://api.anthropic.com/%2e%2e/v1/messages", id="encoded dots"),
        pytest.param("POST", "https://api.anthropic.com//v1/messages", id="an empty segment"),
        pytest.param("POST", "https://api.anthropic.com\\@evil/v1/messages", id="a backslash"),
        pytest.param("POST", "https://u@api.anthropic.com/v1/messages", id="a user in the URL"),
        pytest.param("POST", "https://api.anthropic.com:99999/v1/messages", id="no such port"),
        pytest.param("POST", "ftp://api.anthropic.com/v1/messages", id="another scheme"),
        pytest.param("POST", "/v1/messages", id="no host"),
        pytest.param("POST", "", id="nothing"),
    ],
)
def test_a_secret_goes_nowhere_else(method: str, url: str) -> None:
    """CASE-22, CASE-24: exact hosts, methods and paths."""
    decision = ANTHROPIC.allows(method, url)
    assert isinstance(decision, Deny)
    assert decision.reason


def test_polarion_secrets_go_to_its_rest_paths_encoded_names_included() -> None:
    polarion = binding_of("polarion", ("http://127.0.0.1:8090",))
    base = "http://127.0.0.1:8090/polarion/rest/v1/projects"
    assert (
        polarion.allows("GET", f"{base}/P/workitems/P%20X/attachments/run%20%26%20log%C3%BC.txt")
        == Allow()
    )
    assert isinstance(polarion.allows("GET", f"{base}/P/%2e%2e/%2E%2E/admin"), Deny)
    assert isinstance(polarion.allows("GET", f"{base}/P%2fworkitems"), Deny)
    assert isinstance(polarion.allows("GET", f"{base}/P%00"), Deny)
    assert isinstance(polarion.allows("GET", f"{base}/P%zz"), Deny)
    assert isinstance(polarion.allows("DELETE", f"{base}/P"), Deny)


def test_git_secrets_open_the_smart_routes_only() -> None:
    git = binding_of("git", ("git.example",))
    assert git.allows("GET", "https://git.example/a/b.git/info/refs") == Allow()
    assert git.allows("POST", "https://git.example/a/b.git/git-receive-pack") == Allow()
    assert isinstance(git.allows("GET", "https://git.example/api/v1/user"), Deny)
    assert isinstance(git.allows("DELETE", "https://git.example/a/b.git/info/refs"), Deny)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"hosts": ()}, id="no host"),
        pytest.param({"methods": frozenset()}, id="no method"),
        pytest.param({"paths": ()}, id="no path"),
        pytest.param({"hosts": ("*.example",)}, id="a wildcard host"),
        pytest.param({"hosts": ("https://a.example",)}, id="a host with a scheme"),
        pytest.param({"hosts": ("a.example/x",)}, id="a host with a path"),
        pytest.param({"hosts": ("A.example",)}, id="a host in upper case"),
        pytest.param({"hosts": ("",)}, id="an empty host"),
        pytest.param({"methods": frozenset({"*"})}, id="a wildcard method"),
        pytest.param({"paths": ("v1",)}, id="a path without its slash"),
        pytest.param({"issuer": "https://id.example"}, id="an issuer that nothing is asked of"),
        pytest.param({"scheme": "oauth-client", "argument": "me"}, id="a client without issuer"),
        pytest.param(
            {"scheme": "oauth-client", "issuer": "https://id.example"}, id="a client without id"
        ),
        pytest.param(
            {"scheme": "oauth-client", "argument": "me", "issuer": "https://u@id.example"},
            id="an issuer with a user",
        ),
        pytest.param(
            {"scheme": "oauth-client", "argument": "me", "issuer": "https://id.example/?a=b"},
            id="an issuer with a query",
        ),
        pytest.param({"scheme": "basic"}, id="basic without a user"),
        pytest.param({"scheme": "header", "argument": "x y"}, id="a header name with a blank"),
    ],
)
def test_a_binding_that_leaves_something_open_can_not_be_made(change: dict[str, Any]) -> None:
    """CASE-24: refused when it is made, never all methods or all paths."""
    whole: dict[str, Any] = {
        "scheme": "bearer",
        "hosts": ("a.example",),
        "methods": frozenset({"GET"}),
        "paths": ("/**",),
    }
    Binding(**whole)
    with pytest.raises(ValueError, match=r"\w+"):
        Binding(**{**whole, **change})


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_makes_a_binding_that_survives_storing(kind: str) -> None:
    """CASE-29: what is stored loads again, unchanged."""
    needy = KINDS[kind].scheme in {"app-jwt", "oauth-client", "header"} or kind == "api-basic"
    named = f"{kind}:12345" if needy else kind
    more = ("https://id.example/team", ("read",)) if kind == "mcp-oauth" else ()
    binding = binding_of(named, ("a.example",), *more)
    stored = json.loads(json.dumps(binding.to_meta()))
    loaded = Binding.from_meta(stored)
    assert (loaded.to_meta(), loaded.issuer) == (binding.to_meta(), binding.issuer)


def test_an_unknown_kind_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="anthropic"):
        binding_of("nonsense", ("a.example",))


def test_a_kind_takes_an_argument() -> None:
    assert binding_of("git:oauth2", ("a.example",)).argument == "oauth2"


@pytest.mark.parametrize(
    ("scheme", "argument", "headers"),
    [
        ("bearer", "", {"authorization": f"Bearer {VALUE}"}),
        ("x-api-key", "", {"x-api-key": VALUE}),
        ("x-goog-api-key", "", {"x-goog-api-key": VALUE}),
        ("header", "Private-Token", {"private-token": VALUE}),
        (
            "basic",
            "git",
            {"authorization": "Basic " + base64.b64encode(f"git:{VALUE}".encode()).decode()},
        ),
    ],
)
def test_a_secret_is_put_on_by_its_scheme_and_taken_out_of_what_comes_back(
    scheme: SchemeName, argument: str, headers: dict[str, str]
) -> None:
    binding = Binding(scheme, ("a.example",), frozenset({"GET"}), ("/**",), argument)
    made = Credential("n", binding, VALUE).headers("https://a.example/x")
    assert dict(made) == headers
    echoed = f"you sent {headers} and {VALUE}".encode()
    assert VALUE.encode() not in made.redact(echoed)
    assert next(iter(headers.values())).encode() not in made.redact(echoed)


def test_a_secret_shows_itself_nowhere() -> None:
    credential = Credential("n", ANTHROPIC, VALUE)
    headers = credential.headers("https://a.example/x")
    for thing in (credential, headers, [headers], {"h": headers}):
        assert VALUE not in f"{thing!r} {thing!s} {thing}"
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        for thing in (credential, headers):
            with pytest.raises(TypeError, match="never"):
                attempt(thing)


@given(st.text(max_size=60))
def test_no_text_in_place_of_a_url_makes_it_stumble_or_gives_the_secret_out(text: str) -> None:
    for url in (text, f"https://{text}{MESSAGES}"):
        decision = ANTHROPIC.allows("POST", url)
        assert isinstance(decision, Deny) or text.lower() in {
            "api.anthropic.com",
            "api.anthropic.com:443",
            "127.0.0.1:8123",
        }
