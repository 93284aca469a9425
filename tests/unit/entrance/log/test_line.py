"""The chain of lines: nothing of a line can be different, and no line can be missing."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrance.log.chain_check import followed
from entrance.log.line import Head, hash_of, seq_of

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 62), 1 << 62) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.fixed_dictionaries({"type": st.text(), "detail": JSON})
AT = "2026-01-05T00:00:00+00:00"


def chained(rows: list[dict[str, object]]) -> tuple[list[bytes], Head]:
    lines, head = [], Head()
    for row in rows:
        raw, head = head.line(AT, row)
        lines.append(raw[:-1])
    return lines, head


@given(st.lists(FIELDS, max_size=6))
def test_whatever_is_written_is_one_line_of_json_each_and_hangs_together(
    rows: list[dict[str, object]],
) -> None:
    lines, head = chained(rows)
    assert not any(b"\n" in line for line in lines)
    for number, (line, row) in enumerate(zip(lines, rows, strict=True), start=1):
        read = orjson.loads(line)
        assert {**row, "seq": number, "at": AT, "hash": read["hash"]} == read
        assert hash_of(line) == bytes.fromhex(read["hash"])
        assert seq_of(line) == number
    assert followed(lines, Head()) == (len(lines), head)


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
    count, head = followed(lines, Head())
    assert (count, head.seq) == (at, at)


def test_a_line_with_another_number_does_not_follow() -> None:
    line = Head(5).line(AT, {})[0][:-1]
    assert followed([line], Head(5))[0] == 1
    assert followed([line], Head()) == (0, Head())
    assert Head().followed_by(line) is None


@pytest.mark.parametrize(
    "line", [b"", b"{}", b'{"seq":"1","hash":"x"}', b"x" * 200, b'{"seq":1,"hash":"' + b"z" * 64 + b'"}']
)  # fmt: skip
def test_what_is_no_line_of_a_log_has_no_hash_and_follows_nothing(line: bytes) -> None:
    assert hash_of(line) is None
    assert Head().followed_by(line) is None
    assert followed([line], Head()) == (0, Head())
