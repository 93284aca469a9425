"""What of the host's advertisement the client is shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrance.git.advertise import AdvertisementFilter
from entrance.git.pktline import FLUSH, ProtocolError, encode

HEADER = encode(b"# service=git-receive-pack\n") + FLUSH
OFFERED = b"report-status delete-refs push-cert=nonce push-options session-id=abc agent=git/2.39"
SHOWN = b"report-status delete-refs agent=git/2.39"
FIRST = b"1" * 40 + b" refs/heads/main\0"
REST = encode(b"2" * 40 + b" refs/heads/x\n") + FLUSH


def shown(*fed: bytes) -> bytes:
    the_filter = AdvertisementFilter()
    return b"".join(map(the_filter.feed, fed))


@given(st.integers(0, 300))
def test_what_the_door_does_not_carry_is_taken_out(at: int) -> None:
    """CASE-58."""
    wire = HEADER + encode(FIRST + OFFERED + b"\n") + REST
    assert shown(wire[:at], wire[at:]) == HEADER + encode(FIRST + SHOWN + b"\n") + REST


def test_a_version_line_before_the_refs_is_passed_on() -> None:
    version = encode(b"version 1\n")
    wire = HEADER + version + encode(FIRST + OFFERED + b"\n") + REST
    assert shown(wire) == HEADER + version + encode(FIRST + SHOWN + b"\n") + REST


def test_an_answer_without_capabilities_is_passed_on() -> None:
    wire = HEADER + encode(b"ERR no such thing\n") + FLUSH + b"0001" + REST
    assert shown(wire) == wire


@given(st.integers(0, 400))
def test_of_the_refs_branches_and_tags_are_shown(at: int) -> None:
    """git would send nothing that another leads to, and the door's copy doesn't have it."""
    hidden = encode(b"3" * 40 + b" .have\n") + encode(b"4" * 40 + b" refs/pull/1/head\n")
    tag = encode(b"5" * 40 + b" refs/tags/v1\n")
    wire = HEADER + encode(FIRST + OFFERED + b"\n") + hidden + tag + REST

    expected = HEADER + encode(FIRST + SHOWN + b"\n") + tag + REST
    assert shown(wire[:at], wire[at:]) == expected


def test_capabilities_move_on_from_a_ref_that_is_not_shown() -> None:
    first = encode(b"1" * 40 + b" .have\0" + OFFERED + b"\n")
    two = encode(b"2" * 40 + b" refs/heads/x\0" + SHOWN + b"\n")
    assert shown(HEADER + first + REST) == HEADER + two + FLUSH

    none = encode(b"0" * 40 + b" capabilities^{}\0" + SHOWN + b"\n")
    assert shown(HEADER + first + FLUSH) == HEADER + none + FLUSH


def test_what_is_no_advertisement_is_refused() -> None:
    with pytest.raises(ProtocolError):
        shown(b"<html>")
