"""The answer to a push: written and read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrance.git.pktline import FLUSH, encode
from entrance.git.report import MAX_REPORT_BYTES, ReportReader, encode_refusal

MAIN = b"refs/heads/main"
NOTE = "sandgate: this run may push only branches under agent/"


def test_the_refusal_is_what_git_prints_right() -> None:
    """CASE-52: bytes that git 2.39 was seen to take."""
    refused = encode_refusal(
        {"report-status", "side-band-64k"}, {MAIN: "only agent/** may be pushed"}, NOTE
    )
    assert refused == (
        b"003c\x02sandgate: this run may push only branches under agent/\n"
        b"004a\x01000eunpack ok\n0033ng refs/heads/main only agent/** may be pushed\n0000"
        b"0000"
    )


def test_without_a_band_the_report_stands_alone() -> None:
    """CASE-48."""
    assert encode_refusal(["report-status-v2"], {MAIN: "no"}, NOTE) == (
        b"000eunpack ok\n001ang refs/heads/main no\n0000"
    )


def test_without_a_report_the_band_for_fatal_errors_tells() -> None:
    """CASE-48."""
    assert encode_refusal(["side-band-64k"], {MAIN: "no"}, "why") == b"0009\x03why\n0000"


def test_a_client_that_can_not_be_told_is_left_to_the_caller() -> None:
    """CASE-48: a bare 200 would look like success."""
    assert encode_refusal(["agent=x"], {MAIN: "no"}, NOTE) is None


def test_a_reason_is_one_line_of_bounded_length() -> None:
    refused = encode_refusal(["report-status"], {MAIN: "a\r\n\x1b[31m" + "b" * 2000}, NOTE)
    assert refused is not None
    assert b"ng refs/heads/main a [31mbbb" in refused
    assert len(refused) < 1100


def read(capabilities: list[str], *fed: bytes) -> ReportReader:
    reader = ReportReader(capabilities)
    for data in fed:
        reader.feed(data)
    return reader


REPORT = (
    encode(b"unpack ok\n") + encode(b"ok refs/heads/a\n") + encode(b"ng refs/heads/b no\n") + FLUSH
)


def test_a_bare_report_is_read() -> None:
    report = read(["report-status"], REPORT).report()
    assert report.unpack == "ok"
    assert report.refs == {"refs/heads/a": "ok", "refs/heads/b": "ng no"}
    assert report.result == "refused"


@given(st.integers(1, 40), st.integers(0, 120))
def test_a_banded_report_is_read_however_it_is_cut(size: int, at: int) -> None:
    banded = encode(b"\x02working\n") + b"".join(
        encode(b"\x01" + REPORT[start : start + size]) for start in range(0, len(REPORT), size)
    )
    wire = banded + encode(b"\x02done\n") + FLUSH
    report = read(["report-status", "side-band-64k"], wire[:at], wire[at:]).report()
    assert report.refs == {"refs/heads/a": "ok", "refs/heads/b": "ng no"}


def test_all_taken_is_ok_and_no_report_is_unknown() -> None:
    taken = encode(b"unpack ok\n") + encode(b"ok refs/heads/a\n") + FLUSH
    assert read([], taken).report().result == "ok"
    assert read([], encode(b"unpack index-pack failed\n")).report().result == "refused"
    assert read([]).report().result == "unknown"


@pytest.mark.parametrize(
    ("capabilities", "answer"),
    [
        ([], b"<html>what</html>"),
        (["side-band-64k"], b"zzzz"),
        ([], encode(b"ok refs/heads/a\n") * (MAX_REPORT_BYTES // 20 + 1)),
    ],
)
def test_what_is_no_report_is_unknown_and_never_raises(
    capabilities: list[str], answer: bytes
) -> None:
    reader = read(capabilities, answer, b"more")
    assert reader.report().result == "unknown"


def test_our_own_refusal_is_read_back_as_refused() -> None:
    capabilities = ["report-status", "side-band"]
    refusals = {b"refs/heads/%d" % number: "no " * 100 for number in range(20)}
    refused = encode_refusal(capabilities, refusals, NOTE)
    assert refused is not None
    assert len(read(capabilities, refused).report().refs) == 20
