"""Lines of harnesses: anything at all may stand in them."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.harnesses.lines import DEEPEST, LONGEST_RAW, object_in, raw, shown


@pytest.mark.parametrize("line", ["", "{", "nul", "[1]", "7", '"text"', "\ud800", '{"a": NaN}'])
def test_what_is_no_json_object_is_none(line: str) -> None:
    assert object_in(line) is None


def test_what_could_not_be_written_out_again_is_none() -> None:
    def nested(levels: int) -> str:
        return '{"a":' + "[" * levels + "]" * levels + "}"

    taken = object_in(nested(DEEPEST - 2))
    assert taken is not None
    orjson.dumps(taken)
    assert object_in(nested(DEEPEST + 1)) is None
    assert object_in(nested(900)) is None


def test_a_line_of_no_use_is_kept_up_to_a_length() -> None:
    assert raw("x" * (2 * LONGEST_RAW)) == ("raw", {"text": "x" * LONGEST_RAW})


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("plain", "plain"),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb"),
        ([{"type": "image", "source": {"data": "AAAA"}}], "[image]"),
        ([{"type": "text", "text": 5}, 7, None], ""),
        (None, ""),
        ({"text": "a"}, ""),
    ],
)
def test_a_result_is_shown_as_text(content: object, text: str) -> None:
    assert shown(content) == text


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(JSON)
def test_nothing_that_a_result_holds_raises(content: object) -> None:
    assert isinstance(shown(content), str)
