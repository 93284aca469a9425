"""What a tool answered, within bounds."""

from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from entrance.mcp.results import bounded, size_of, text_result


def test_what_fits_stays_as_it_is() -> None:
    result = {**text_result("abc"), "structuredContent": {"a": 1}, "other": True}
    assert bounded(result, 10) == result


def test_text_is_cut_once_and_the_rest_left_out() -> None:
    """CASE-69."""
    result = {"content": [{"type": "text", "text": "abcdef"}, {"type": "text", "text": "ghi"}]}
    [part] = bounded(result, 4)["content"]
    assert part["text"].startswith("abcd\n[cut here by Sandgate: 4 of 9")


def test_what_can_not_be_cut_is_left_out_with_a_word_about_it() -> None:
    """CASE-69: a base64 image."""
    image = {"type": "image", "data": "x" * 10_000, "mimeType": "image/png"}
    small = {**image, "data": "x"}
    shown, left_out = bounded({"content": [small, image], "isError": False}, 10)["content"]
    assert shown == small
    assert left_out["type"] == "text"
    assert "image of 10" in left_out["text"]


def test_structured_content_that_is_too_large_is_left_out() -> None:
    result = {**text_result("a"), "structuredContent": {"a": "x" * 100}}
    assert "structuredContent" not in bounded(result, 50)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=200),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["type", "text", "data", "x"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["content", "structuredContent", "x"]), JSON))
def test_whatever_comes_is_bounded(result: dict[str, Any]) -> None:
    found = bounded(result, 20)
    assert size_of(found) <= 20 + 100 * max(1, len(found["content"]))
    orjson.dumps(found)
