"""What an attempt has moved, and what is told of its end."""

import hashlib

from proxy.decision import Allow
from proxy.exchange import MAX_HASHED, Body, Exchange


def test_a_body_is_hashed_up_to_a_limit_and_counted_beyond_it() -> None:
    body, part = Body(), b"x" * (1 << 20)
    body.add(b"")
    assert body.sha256 == ""
    for _ in range(70):
        body.add(part)
    assert body.count == 70 << 20
    assert body.hashed == MAX_HASHED
    assert body.sha256 == hashlib.sha256(part * 64).hexdigest()


def test_what_was_cut_off_says_so() -> None:
    exchange = Exchange(7, "run-1", Allow("a.example", "web"))
    exchange.heads_out = 10
    assert exchange.outcome("done", "1.2.3.4:443").result == "done"
    exchange.cut = "too large"
    outcome = exchange.outcome("done", "1.2.3.4:443", error="x")
    assert (outcome.result, outcome.detail) == ("cut", {"error": "x", "reason": "too large"})


def test_of_what_was_never_dialled_nothing_has_left() -> None:
    exchange = Exchange(7, "run-1", Allow("a.example", "web"))
    exchange.heads_out = 10
    assert exchange.outcome("refused", "").bytes_out == 0
