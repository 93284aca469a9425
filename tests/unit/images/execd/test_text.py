"""Output leaves as whole lines, and nothing of it is lost or crashes the reader."""

from hypothesis import given
from hypothesis import strategies as st

from execd.text import LineText

PIECES = st.lists(
    st.one_of(st.binary(max_size=12), st.sampled_from([b"\n", b"\r\n", b"\xc3", b"a"]))
)


@given(PIECES, st.integers(4, 40))
def test_the_pieces_joined_are_the_stream_decoded(pieces: list[bytes], limit: int) -> None:
    lines = LineText(limit)
    out = [lines.feed(piece) for piece in pieces] + [lines.end()]
    assert "".join(out) == b"".join(pieces).decode("utf-8", "replace")


@given(PIECES)
def test_each_piece_but_the_last_ends_a_line(pieces: list[bytes]) -> None:
    lines = LineText()
    for piece in pieces:
        text = lines.feed(piece)
        assert not text or text[-1] in "\r\n"


def test_a_line_that_does_not_end_is_let_go_of_at_the_limit() -> None:
    lines = LineText(100)
    out = [lines.feed(b"x" * 60) for _ in range(10)]
    assert sum(map(len, out)) >= 500
