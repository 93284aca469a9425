"""The head of a push, whole or in pieces."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrance.git.pktline import FLUSH, ProtocolError, encode
from entrance.git.receive_pack import (
    MAX_HEAD_BYTES,
    MAX_NAME_BYTES,
    MAX_UPDATES,
    HeadParser,
    PushHead,
)
from entrance.git.refs import RefUpdate

NONE, ONE, TWO = "0" * 40, "1" * 40, "2" * 40
CAPABILITIES = b"\0 report-status side-band-64k push-options agent=git/2.39"


def command(
    ref: bytes = b"refs/heads/x", tail: bytes = CAPABILITIES, old: str = NONE, new: str = ONE
) -> bytes:
    return encode(f"{old} {new} ".encode() + ref + tail)


def parsed(*fed: bytes) -> PushHead | None:
    parser = HeadParser()
    for data in fed[:-1]:
        assert parser.feed(data) is None
    return parser.feed(fed[-1])


WHOLE = (
    encode(b"shallow " + b"a" * 40 + b"\n")
    + command()
    + command(b"refs/heads/y\n", b"", ONE, TWO)
    + FLUSH
    + encode(b"ci.skip")
    + FLUSH
)


def test_a_push_tells_its_updates_and_capabilities() -> None:
    head = parsed(WHOLE + b"PACK...")

    assert head is not None
    assert head.updates == (
        RefUpdate(NONE, ONE, b"refs/heads/x"),
        RefUpdate(ONE, TWO, b"refs/heads/y"),
    )
    assert "side-band-64k" in head.capabilities
    assert (head.raw, head.rest) == (WHOLE, b"PACK...")
    assert not head.asks_nothing
    assert not head.signed


@given(st.lists(st.integers(0, len(WHOLE) - 1), max_size=6))
def test_the_split_of_the_bytes_does_not_matter(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(WHOLE)]
    pieces = [WHOLE[start:end] for start, end in pairwise(places)]

    head = parsed(*pieces[:-1], pieces[-1] + b"PACK")

    assert head == parsed(WHOLE + b"PACK")


def test_a_byte_at_a_time_is_enough() -> None:
    head = parsed(*(bytes([byte]) for byte in WHOLE))
    assert head is not None
    assert head.raw == WHOLE


@pytest.mark.parametrize("data", [b"0000", encode(b"shallow " + b"a" * 40) + FLUSH])
def test_no_command_asks_nothing(data: bytes) -> None:
    """CASE-32, CASE-37."""
    head = parsed(data)
    assert head is not None
    assert head.asks_nothing


@pytest.mark.parametrize("blank", [b"\0", b"\x0b", b"\x1c", b"\x85", b"\xa0", b"\t"])
def test_capabilities_are_parted_as_git_parts_them_or_not_taken(blank: bytes) -> None:
    """Else the host would hear of others than the door: of no report, for one."""
    with pytest.raises(ProtocolError, match="capabilities"):
        parsed(command(tail=b"\0x" + blank + b"report-status") + FLUSH)


def test_options_are_read_only_when_they_were_negotiated() -> None:
    head = parsed(command(tail=b"\0report-status") + FLUSH + b"0009PACK?")
    assert head is not None
    assert head.rest == b"0009PACK?"
    assert not head.has_options


def test_options_are_told_when_there_are_any() -> None:
    head, without = parsed(WHOLE), parsed(command() + FLUSH + FLUSH)
    assert head is not None
    assert without is not None
    assert (head.has_options, without.has_options) == (True, False)


def test_sha256_ids_are_taken() -> None:
    head = parsed(command(old="0" * 64, new="a" * 64) + FLUSH + FLUSH)
    assert head is not None
    assert head.updates[0].new == "a" * 64


def test_a_signed_push_is_told_as_one() -> None:
    """CASE-58: its commands, hidden in the certificate, are not judged at all."""
    certificate = encode(b"push-cert\0report-status\n") + command() + encode(b"push-cert-end\n")
    head = parsed(certificate + FLUSH)
    assert head is not None
    assert head.signed
    assert not head.updates
    assert not head.asks_nothing


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(command(tail=b"") + FLUSH, id="no capabilities"),
        pytest.param(command() + command() + FLUSH, id="capabilities twice"),
        pytest.param(command(old="A" * 40) + FLUSH, id="upper case"),
        pytest.param(command(new="1" * 64) + FLUSH, id="ids of two lengths"),
        pytest.param(command(new="1" * 39) + FLUSH, id="short id"),
        pytest.param(command(b"") + FLUSH, id="no name"),
        pytest.param(command(b"refs/heads/" + b"x" * MAX_NAME_BYTES) + FLUSH, id="long name"),
        pytest.param(encode(b"create refs/heads/x\0report-status"), id="no command"),
        pytest.param(encode(b""), id="empty line"),
        pytest.param(b"0001", id="delimiter"),
        pytest.param(encode(b"shallow xyz"), id="shallow what"),
        pytest.param(command() + encode(b"shallow " + b"a" * 40), id="late shallow"),
        pytest.param(b"ffff", id="bad length"),
        pytest.param(
            command() + command(tail=b"") * MAX_UPDATES + FLUSH,
            id="too many",
        ),
        pytest.param(
            command() + FLUSH + encode(b"o" * 60_000) * (MAX_HEAD_BYTES // 60_000 + 1) + FLUSH,
            id="too large",
        ),
        pytest.param(
            encode(b"shallow " + b"a" * 40) * (MAX_HEAD_BYTES // 52 + 1), id="endless shallow"
        ),
    ],
)
def test_what_is_malformed_ambiguous_or_too_large_is_refused(data: bytes) -> None:
    """CASE-57."""
    with pytest.raises(ProtocolError):
        parsed(data)


def test_a_certificate_after_a_command_is_no_certificate() -> None:
    with pytest.raises(ProtocolError):
        parsed(command() + encode(b"push-cert") + FLUSH)
