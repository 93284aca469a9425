"""What the rules of all dialects share."""

import pytest

from entrance.model.dialects.rules import key_troubles, link_troubles, picture_bytes

VALUES = {"flag": frozenset({False}), "count": frozenset({1}), "word": frozenset({"a", "b"})}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("plain", object()), ("other", None), ("other", []), ("other", ""), ("other", {}),
        ("flag", False), ("count", 1), ("word", "b"),
    ],
)  # fmt: skip
def test_what_is_named_or_asks_for_nothing_is_let_through(key: str, value: object) -> None:
    assert list(key_troubles({key: value}, {"plain"}, VALUES)) == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("other", 0), ("other", False), ("flag", True), ("flag", 0), ("count", True),
        ("count", 1.0), ("count", 2), ("word", "c"), ("word", ["a"]), ("word", {"a": 1}),
    ],
)  # fmt: skip
def test_anything_else_is_refused_by_name(key: str, value: object) -> None:
    (said,) = key_troubles({key: value}, {"plain"}, VALUES, "in.")
    assert f"`in.{key}`" in said


@pytest.mark.parametrize("link", ["https://x", "http://x", "gs://x", "file-1", {"url": "x"}, 1])
def test_a_link_is_refused_unless_it_is_the_content_itself(link: object) -> None:
    assert list(link_troubles({"url": link}, ("url",)))
    assert not list(link_troubles({"url": "data:text/plain,x"}, ("url",)))
    assert not list(link_troubles({"url": None}, ("url",)))


def test_only_pictures_in_the_request_count_as_pictures() -> None:
    assert picture_bytes("data:image/png;base64,AA") == 24
    assert picture_bytes("data:text/plain,AA") == 0
    assert picture_bytes(None) == 0
