"""What a tool answered, within bounds."""

import base64
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrance.mcp.results import (
    STRUCTURED,
    TEXT,
    Kept,
    Overlong,
    bounded,
    fits,
    in_words,
    overlong,
    size_of,
    text_result,
)


def test_what_fits_stays_as_it_is() -> None:
    result = {**text_result("abc"), "structuredContent": {"a": 1}, "other": True}
    assert bounded(result, 10) == result


def test_what_fits_as_a_whole_needs_no_look_at_its_parts() -> None:
    """What is told without a look is what would be told with one."""
    result = {**text_result("abc"), "structuredContent": {"a": 1}}
    whole = len(orjson.dumps(result))
    assert fits(result, whole)
    assert bounded(result, whole) == result
    assert not fits(result, whole - 1)


@pytest.mark.parametrize("content", [None, "text", [{"type": "text", "text": "a"}, "no part"]])
def test_a_result_that_is_not_well_made_is_looked_at(content: object) -> None:
    assert not fits({"content": content}, 1000)


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


def test_a_text_that_lies_in_a_file_is_told_with_its_beginning_its_size_and_where() -> None:
    """CASE-69: the rest is in a file that the agent can read."""
    result = {"content": [{"type": "text", "text": "a" * 60}, {"type": "text", "text": "b" * 60}]}
    assert overlong(result, 100) == {TEXT: Overlong(b"a" * 60 + b"\n" + b"b" * 60, "txt")}
    [part] = bounded(result, 100, {TEXT: Kept("/w/7-1.txt")})["content"]
    assert part["text"] == (
        f"{'a' * 20}\n[this is the beginning of 120 characters; all of it: /w/7-1.txt]"
    )
    [part] = bounded(result, 100, {TEXT: Kept("/w/7-1.txt", cut=50)})["content"]
    assert part["text"].endswith("all of it: its first 50 bytes are in /w/7-1.txt]")


def test_a_text_that_could_not_be_written_is_cut_as_if_there_were_no_files() -> None:
    result = text_result("a" * 120)
    [part] = bounded(result, 100, {TEXT: Kept(why="the disk is full")})["content"]
    assert part["text"] == (
        f"{'a' * 100}\n[cut here by Sandgate: 100 of 120 characters are shown; ask for less; "
        "it could not be written to a file: the disk is full]"
    )


@pytest.mark.parametrize(
    ("part", "extension", "content"),
    [
        ({"type": "image", "mimeType": "image/png"}, "png", b"x"),
        ({"type": "image", "mimeType": "IMAGE/JPEG; q=1"}, "jpg", b"x"),
        ({"type": "image", "mimeType": "../../etc/passwd"}, "bin", b"x"),
        ({"type": "audio", "mimeType": "audio/wav"}, "wav", b"x"),
        ({"type": "audio"}, "bin", b"x"),
    ],
)
def test_pictures_and_sounds_are_files_of_their_kind(
    part: dict[str, Any], extension: str, content: bytes
) -> None:
    """CASE-69: a base64 image."""
    data = base64.b64encode(content * 9000).decode()
    result = {"content": [{**part, "data": data}]}
    assert overlong(result, 100) == {0: Overlong(content * 9000, extension)}
    [told] = bounded(result, 100, {0: Kept("/w/7-1.x")})["content"]
    assert told["text"].startswith(f"[{part['type']} of 120")
    assert told["text"].endswith(" bytes: /w/7-1.x]")


def test_embedded_files_are_files_and_their_uris_name_nothing() -> None:
    blob = {"uri": "file:///../x.sh", "mimeType": "application/pdf", "blob": "QUJD" * 2000}
    text = {"uri": "file:///y", "mimeType": "text/csv", "text": "a,b\n" * 2000}
    odd = {"uri": "file:///z", "blob": "no base64!" * 2000}
    held = [{"type": "resource", "resource": each} for each in (blob, text, odd)]
    result = {"content": [{"type": "text", "text": "see"}, *held]}
    assert overlong(result, 100) == {
        1: Overlong(b"ABC" * 2000, "pdf"),
        2: Overlong(b"a,b\n" * 2000, "csv"),
    }
    first, *_, last = bounded(result, 100, {1: Kept("/w/1"), 2: Kept("/w/2")})["content"]
    assert first["text"] == "see"
    assert "left out by Sandgate" in last["text"]


def test_structured_content_is_a_file_unless_the_text_says_the_same() -> None:
    structured = {"rows": list(range(100))}
    text = orjson.dumps(structured, option=orjson.OPT_INDENT_2).decode()
    both = {**text_result(text), "structuredContent": structured}
    assert overlong(both, 100) == {TEXT: Overlong(text.encode(), "json")}
    alone = {**text_result("a table"), "structuredContent": structured}
    assert overlong(alone, 100) == {STRUCTURED: Overlong(orjson.dumps(structured), "json")}
    told = bounded(alone, 100, {STRUCTURED: Kept("/w/7-1.json")})
    assert "structuredContent" not in told
    assert told["content"][-1]["text"] == "[structured content of 300 bytes: /w/7-1.json]"


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
    files = overlong(result, 20)
    kept = bounded(result, 20, dict.fromkeys(files, Kept("/w/1-1.txt")))
    assert size_of(kept) <= 20 + 100 * max(1, len(kept["content"]))


def test_a_result_that_is_structured_only_is_told_in_words_too() -> None:
    structured = {"content": [], "structuredContent": {"answer": 42}}
    assert in_words(structured)["content"] == [{"type": "text", "text": '{"answer":42}'}]
    assert in_words(structured)["structuredContent"] == {"answer": 42}
    both = {**text_result("It is 42."), "structuredContent": {"answer": 42}}
    assert in_words(both) == both
    assert in_words({"content": []}) == {"content": []}
