import json

import pytest
from native import text


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"plain\n\ttab", "plain\n\ttab"),
        (b"\xff\xfe caf\xc3\xa9", "\ufffd\ufffd caf\u00e9"),
        (b"\x1b[31mred\x1b[0m \x1b]0;title\x07end\x1b(B", "red end(B"),
        (b"10%\r20%\r\nend", "10%\n20%\nend"),
        (b"nul\x00bell\x07", "nulbell"),
    ],
)
def test_bytes_of_any_kind_become_readable(data: bytes, shown: str) -> None:
    assert text.readable(data) == shown


def test_half_a_surrogate_pair_never_leaves() -> None:
    value = text.clean({"a\ud800": ["\udfff", "\ud83d\ude00", 3, None]})
    assert value == {"a\ufffd": ["\ufffd", "\U0001f600", 3, None]}
    json.dumps(value, ensure_ascii=False).encode()


def test_only_long_texts_are_shortened() -> None:
    assert text.shortened({"a": ["x" * 5, 7]}, 5) == {"a": ["x" * 5, 7]}
    assert text.shortened(["x" * 9], 5) == ["xxxxx[... 4 more characters]"]


def test_the_middle_of_a_long_text_gives_way() -> None:
    assert text.middle_out("abc", 3) == "abc"
    assert text.middle_out("a" * 5 + "b" * 10, 9) == "aaa\n[... 6 characters left out ...]\nbbbbbb"
