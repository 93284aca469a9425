"""The chain of lines: nothing of a line can be different, and no line can be missing."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrance.log.chain_check import followed
from entrance.log.line import End, Head, hash_of, seq_of
from tests.servers.log import AT

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 62), 1 << 62) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
END = End(Head())
"""Before the first line of all."""
FIELDS = st.fixed_dictionaries({"type": st.text(), "detail": JSON})


def chained(rows: list[dict[str, object]]) -> tuple[list[bytes], Head]:
    lines, head = [], Head()
    for row in rows:
        raw, head = head.line(AT, row)
        lines.append(raw)
    return lines, head


@given(st.lists(FIELDS, max_size=6))
def test_whatever_is_written_is_one_line_of_json_each_and_hangs_together(
    rows: list[dict[str, object]],
) -> None:
    lines, head = chained(rows)
    assert all(line.find(b"\n") == len(line) - 1 for line in lines)
    for number, (line, row) in enumerate(zip(lines, rows, strict=True), start=1):
        read = orjson.loads(line)
        assert {**row, "seq": number, "at": AT.isoformat(), "hash": read["hash"]} == read
        assert hash_of(line[:-1]) == bytes.fromhex(read["hash"])
        assert seq_of(line) == number
    assert followed(lines, END) == End(head, sum(map(len, lines)))


@given(st.lists(FIELDS, min_size=2, max_size=5), st.data())
def test_a_byte_that_is_different_breaks_the_chain_there(
    rows: list[dict[str, object]], data: st.DataObject
) -> None:
    lines, _ = chained(rows)
    at = data.draw(st.integers(0, len(lines) - 1))
    line = lines[at]
    where = data.draw(st.integers(0, len(line) - 1))
    other = data.draw(st.integers(0, 255).filter(lambda value: value != line[where]))
    lines[at] = line[:where] + bytes([other]) + line[where + 1 :]
    end = followed(lines, END)
    assert (end.head.seq, end.size) == (at, sum(map(len, lines[:at])))


def test_a_line_with_another_number_does_not_follow() -> None:
    line, head = Head(5).line(AT, {"type": "x"})
    assert followed([line], End(Head(5))) == End(head, len(line))
    assert followed([line], END) == END
    assert Head().followed_by(line[:-1]) is None


def test_a_line_that_is_not_finished_does_not_follow() -> None:
    line, _ = Head().line(AT, {"type": "x"})
    assert followed([line[:-1]], END) == END


@pytest.mark.parametrize(
    "line", [b"", b"{}", b'{"seq":"1","hash":"x"}', b"x" * 200, b'{"seq":1,"hash":"' + b"z" * 64 + b'"}']
)  # fmt: skip
def test_what_is_no_line_of_a_log_has_no_hash_and_follows_nothing(line: bytes) -> None:
    assert hash_of(line) is None
    assert Head().followed_by(line) is None
    assert followed([line + b"\n"], END) == END
