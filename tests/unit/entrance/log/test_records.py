"""What is recorded of an attempt, before it gets into a line."""

import hashlib
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrance.decision import Allow, Deny
from entrance.log.body_hash import HASHED_BYTES, BodyHash
from entrance.log.fields import of_decision, of_outcome
from entrance.log.records import Decided, Outcome, Request, Traffic, Whose, shown
from entrance.ports import Cause
from entrance.session import RunId


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        pytest.param("https://a.example/x?q=1", "https://a.example/x?q=1", id="as it is"),
        pytest.param("https://u:p@a.example/", "https://a.example/", id="without the user"),
        pytest.param("https://a.example/#f", "https://a.example/", id="without the fragment"),
        pytest.param("https://a.example/?key=s", "https://a.example/", id="a secret alone"),
        pytest.param("https://a.example/?q=1&KEY=s&b=", "https://a.example/?q=1&b=", id="a secret"),
        pytest.param("https://a.example/?q=%C3%A4", "https://a.example/?q=%C3%A4", id="escapes"),
    ],
)
def test_a_url_is_kept_without_user_and_secrets(url: str, kept: str) -> None:
    assert shown(urlsplit(url)) == kept


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("https://a.example/x", ("a.example", 443)),
        ("http://a.example/x", ("a.example", 80)),
        ("http://127.0.0.1:8080/x", ("127.0.0.1", 8080)),
        ("https://[2001:db8::1]/x", ("2001:db8::1", 443)),
    ],
)
def test_where_a_request_goes_is_told_from_its_url(url: str, place: tuple[str, int]) -> None:
    request = Request.to("GET", url)
    assert (request.host, request.port) == place


@given(st.lists(st.binary(max_size=2000), max_size=20))
def test_a_bodys_hash_is_the_same_in_whatever_parts_it_comes(parts: list[bytes]) -> None:
    body, fed = b"".join(parts), BodyHash()
    for part in parts:
        fed.feed(part)
    assert fed.bytes == len(body)
    assert fed.sha256 == (hashlib.sha256(body).hexdigest() if body else "")


@pytest.mark.parametrize("parts", [1, 3])
def test_of_a_long_body_only_the_beginning_is_hashed(parts: int) -> None:
    body, fed = b"ab" * HASHED_BYTES, BodyHash()
    size = len(body) // parts + 1
    for start in range(0, len(body), size):
        fed.feed(body[start : start + size])
    assert (fed.bytes, fed.sha256) == (
        2 * HASHED_BYTES,
        hashlib.sha256(body[:HASHED_BYTES]).hexdigest(),
    )


def test_fields_that_do_not_apply_are_left_out() -> None:
    fields = of_decision(Decided("auth", "GET /", Allow()), None)
    assert fields == {
        "type": "decided", "door": "entrance", "kind": "auth", "subject": "GET /",
        "decision": "allow", "detail": {},
    }  # fmt: skip
    assert of_outcome(Outcome(7, "ok")) == {
        "type": "outcome", "of": 7, "result": "ok", "detail": {}
    }  # fmt: skip


def test_nothing_that_was_sent_is_told_as_nothing() -> None:
    moved = Traffic(bytes_out=0, bytes_in=0, ms=0)
    fields = of_outcome(Outcome(7, "ok", traffic=moved), ms=9)
    assert (fields["bytes_out"], fields["bytes_in"], fields["ms"]) == (0, 0, 0)


def test_an_attempt_may_be_somebodys_without_a_session() -> None:
    whose = Whose(RunId("r"), "P/T", "bot", "sb-1", "10.0.0.2")
    fields = of_decision(Decided("packet", "tcp", Deny("no rule"), whose), None)
    assert (fields["door"], fields["run"], fields["sandbox"]) == ("fence", "r", "sb-1")
    assert (fields["task"], fields["agent"], fields["address"]) == ("P/T", "bot", "10.0.0.2")


def test_a_cause_without_anything_to_say_is_left_out() -> None:
    assert "cause" not in of_decision(Decided("auth", "x", Allow()), Cause())
