"""git's framing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrance.git.pktline import MAX_PAYLOAD, Mark, PktBuffer, ProtocolError, encode


def popped(*fed: bytes) -> list[bytes | Mark]:
    buffer = PktBuffer()
    lines = []
    for data in fed:
        buffer.feed(data)
        while (line := buffer.pop()) is not None:
            lines.append(line)
    return lines


def test_lines_and_marks_come_out_as_they_stand() -> None:
    assert popped(b"0006a\n0000000100020004") == [
        b"a\n",
        Mark.FLUSH,
        Mark.DELIMITER,
        Mark.RESPONSE_END,
        b"",
    ]


@pytest.mark.parametrize("data", [b"0003", b"fff1", b"ffff", b"zz", b"00 4", b"-001", b"+0ab"])
def test_a_length_that_can_not_be_is_refused(data: bytes) -> None:
    """CASE-57."""
    with pytest.raises(ProtocolError):
        popped(data)


def test_the_longest_line_fits_and_a_longer_one_does_not() -> None:
    assert popped(encode(b"x" * MAX_PAYLOAD)) == [b"x" * MAX_PAYLOAD]
    with pytest.raises(ValueError, match="at most"):
        encode(b"x" * (MAX_PAYLOAD + 1))


@given(st.lists(st.binary(max_size=40), max_size=6), st.data())
def test_the_split_of_the_bytes_does_not_matter(payloads: list[bytes], data: st.DataObject) -> None:
    wire = b"".join(map(encode, payloads)) + b"0000"
    at = data.draw(st.integers(0, len(wire)))
    assert popped(wire[:at], wire[at:]) == [*payloads, Mark.FLUSH]


def test_what_was_not_popped_is_the_rest() -> None:
    buffer = PktBuffer()
    buffer.feed(b"0000PACK")
    assert buffer.pop() is Mark.FLUSH
    assert buffer.rest() == b"PACK"
