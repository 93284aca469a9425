"""Who asks: tokens where clients put them, and the address that must fit."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict, CIMultiDictProxy, MultiDict

from entrance.decision import Deny
from entrance.identity import authenticate, tokens_in_query, tokens_shown
from entrance.session import Ended, RunId, Session, TaskId

SESSION = Session(RunId("r"), TaskId("P/T"), "P", "bot", "10.0.0.2", "hash")


def shown(*pairs: tuple[str, str]) -> frozenset[str]:
    return tokens_shown(CIMultiDictProxy(CIMultiDict(pairs)))


def basic(pair: str) -> str:
    return "Basic " + base64.b64encode(pair.encode()).decode()


@pytest.mark.parametrize(
    ("pairs", "tokens"),
    [
        pytest.param([("authorization", "Bearer t")], {"t"}, id="bearer"),
        pytest.param([("AUTHORIZATION", "bearer  t ")], {"t"}, id="any case, spare blanks"),
        pytest.param([("authorization", basic("run:t"))], {"t"}, id="the password of basic"),
        pytest.param([("authorization", basic("run:t:u"))], {"t:u"}, id="colons in a password"),
        pytest.param([("x-api-key", "t")], {"t"}, id="Anthropic's header"),
        pytest.param([("x-goog-api-key", "t")], {"t"}, id="Google's header"),
        pytest.param([("private-token", "t")], {"t"}, id="GitLab's header"),
        pytest.param([("authorization", "token t")], {"t"}, id="GitHub's scheme"),
        pytest.param([("x-api-key", "t"), ("authorization", "Bearer t")], {"t"}, id="one twice"),
        pytest.param([("x-api-key", "a"), ("x-api-key", "b")], {"a", "b"}, id="two"),
        pytest.param([("authorization", "Basic !!!")], set(), id="unreadable basic"),
        pytest.param([("authorization", basic("only-a-user"))], set(), id="basic without password"),
        pytest.param([("authorization", "Digest t")], set(), id="another scheme"),
        pytest.param([("authorization", "Bearer")], set(), id="an empty bearer"),
        pytest.param([("cookie", "token=t")], set(), id="a cookie"),
        pytest.param([], set(), id="nothing"),
    ],
)
def test_tokens_are_found_where_clients_put_them(
    pairs: list[tuple[str, str]], tokens: set[str]
) -> None:
    assert shown(*pairs) == tokens


@pytest.mark.parametrize(
    ("path", "pairs", "tokens"),
    [
        pytest.param("/model/google/v1/models/m:x", [("key", "t")], {"t"}, id="Google's clients"),
        pytest.param(
            "/model/g/v1beta/models/m:x", [("key", "t"), ("key", "u")], {"t", "u"}, id="two"
        ),
        pytest.param("/model/g/v1beta/models/m:x", [("key", "")], set(), id="empty"),
        pytest.param("/model/g/v1beta/models/m:x", [("Key", "t")], set(), id="another name"),
        pytest.param("/model/anthropic/v1/messages", [("key", "t")], set(), id="not Google's"),
        pytest.param("/mcp", [("key", "t")], set(), id="not a model call"),
        pytest.param("/git/model/x", [("key", "t")], set(), id="not a model call either"),
    ],
)
def test_a_token_may_stand_in_the_query_where_google_s_clients_put_it(
    path: str, pairs: list[tuple[str, str]], tokens: set[str]
) -> None:
    assert tokens_in_query(path, MultiDict(pairs)) == tokens


@given(st.text(st.characters(codec="latin-1", exclude_characters="\r\n\0")))
def test_no_authorization_header_makes_it_stumble(value: str) -> None:
    assert len(shown(("authorization", value))) <= 1


def test_a_session_is_let_in_from_its_own_address() -> None:
    assert authenticate(SESSION, "10.0.0.2") is SESSION


@pytest.mark.parametrize(
    ("found", "address", "reason"),
    [
        pytest.param(SESSION, "10.0.0.3", "foreign", id="another sandbox"),
        pytest.param(SESSION, "", "foreign", id="a connection that is gone"),
        pytest.param(Ended(RunId("r")), "10.0.0.2", "ended", id="after the run"),
        pytest.param(None, "10.0.0.2", "unknown", id="never one of ours"),
    ],
)
def test_nothing_else_is_let_in(found: Session | Ended | None, address: str, reason: str) -> None:
    decision = authenticate(found, address)
    assert isinstance(decision, Deny)
    assert decision.reason.startswith(reason)
