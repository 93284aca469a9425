"""What a visitor of a canary says is read: which probe has sent it."""

import pytest

from orchestrator.adapters.posture.canaries import answer_to, mark_in, name_asked
from orchestrator.adapters.posture.git_canary import report_on
from orchestrator.adapters.posture.inside.network import question
from orchestrator.adapters.posture.outside import NETWORK, addresses_of
from orchestrator.posture.wire import ONE, ZERO, push


@pytest.mark.parametrize(
    ("said", "probe"),
    [
        (b"gateway-ports\n", b"gateway-ports"),
        (b"outside-udp", b"outside-udp"),
        (b"GET /no-proxy HTTP/1.1\r\nHost: x\r\n\r\n", b"no-proxy"),
        (b"GET http://10.0.0.1:99/no-proxy HTTP/1.1\r\n", b"no-proxy"),
        (b"smuggle-te-cl/hidden", b"smuggle-te-cl"),
        (b"git-main.git/info/refs", b"git-main"),
        (b"", None),
        (b"\x16\x03\x01\x02\x00", None),
        (b"UPPER\n", None),
        (b"a" * 70, None),
        (b"GET / HTTP/1.1\r\n", None),
    ],
)
def test_the_probe_is_read_from_what_is_said_first(said: bytes, probe: bytes | None) -> None:
    assert mark_in(said) == probe


def test_a_name_that_is_looked_up_carries_the_probe() -> None:
    assert name_asked(question("dns-gateway")) == b"dns-gateway"
    assert name_asked(b"\0" * 12) is None
    assert name_asked(b"") is None


def test_a_question_is_answered_with_its_own_number_and_no_such_name() -> None:
    asked = question("dns-gateway")
    answer = answer_to(asked)
    assert answer[:2] == asked[:2]
    assert answer[3] & 15 == 3
    assert answer[12:] == asked[12:]


def test_the_canary_git_host_takes_every_ref_that_comes() -> None:
    sent = push("h/x.git", "t", [(ZERO, ONE, "refs/heads/a"), (ZERO, ONE, "refs/tags/b")])
    body = sent.partition("\r\n\r\n")[2].encode("latin-1")
    told = report_on(body)
    assert b"ok refs/heads/a\n" in told
    assert b"ok refs/tags/b\n" in told


def test_canaries_of_two_installations_have_addresses_of_their_own() -> None:
    first, second = addresses_of("sg000001o0"), addresses_of("sg000002o0")
    assert first != second
    assert first == addresses_of("sg000001o0")
    for address in (*first, *second):
        assert address.startswith(str(NETWORK.network_address)[:-1])
