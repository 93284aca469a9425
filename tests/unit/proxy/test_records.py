"""Records say what applies, and leave out the rest."""

import json

from entrance.log.wire import LINE_BYTES, read
from proxy.decision import Allow, Cause, Deny, Hold
from proxy.records import Attempt, Outcome

ATTEMPT = Attempt(
    kind="http",
    address="10.0.0.2",
    method="GET",
    url="https://a.example/",
    host="a.example",
    port=443,
)


def test_an_allowed_attempt_says_by_which_rule() -> None:
    assert ATTEMPT.decided(Allow("a.example", "web")) == {
        "kind": "http",
        "address": "10.0.0.2",
        "method": "GET",
        "url": "https://a.example/",
        "host": "a.example",
        "port": 443,
        "decision": "allow",
        "rule": "web",
    }


def test_a_refused_one_says_why_in_words_and_in_one() -> None:
    denied = ATTEMPT.decided(Deny("not there", Cause.HOST))
    assert (denied["decision"], denied["reason"]) == ("deny", "not there")
    assert denied["detail"] == {"cause": "host"}
    held = ATTEMPT.decided(Hold("wait", "web"))
    assert (held["decision"], held["rule"], held["detail"]) == ("hold", "web", {"cause": "held"})


def test_what_a_client_says_is_kept_within_bounds() -> None:
    long = Attempt(kind="http", address="10.0.0.2", method="X" * 99, url="u" * 9999, host="h" * 999)
    record = long.decided(Deny("no", Cause.HOST))
    assert (len(record["method"]), len(record["url"]), len(record["host"])) == (32, 2048, 256)


def test_no_text_of_a_record_is_longer_or_other_than_the_log_takes() -> None:
    """A server's bytes are quoted in an error's text; half a surrogate is no text."""
    odd = "\udcff" + "\0" * 300_000
    outcome = Outcome(of=7, result="failed", detail={"error": odd}).record()
    decided = Attempt(kind="tls", address="10.0.0.2", sni=odd).decided(Deny(odd, Cause.HOST))
    for said in ({"id": 1, "outcome": outcome}, {"id": 1, "decided": decided}):
        line = json.dumps(said).encode()
        assert len(line) < LINE_BYTES
        assert read(line).id == 1


def test_an_outcome_always_says_how_many_bytes_went_which_way() -> None:
    assert Outcome(of=7, result="unused").record() == {
        "of": 7,
        "result": "unused",
        "bytes_out": 0,
        "bytes_in": 0,
    }
    whole = Outcome(of=7, result="done", status=200, bytes_out=1, bytes_in=2, ms=1.234)
    assert whole.record()["ms"] == 1


def test_whoever_is_no_sandbox_of_ours_is_told_apart() -> None:
    for cause in (Cause.NO_IDENTITY, Cause.FOREIGN_IDENTITY):
        assert ATTEMPT.decided(Deny("who?", cause))["kind"] == "auth"
    assert ATTEMPT.decided(Deny("no", Cause.HOST))["kind"] == "http"
