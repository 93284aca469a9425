"""Addresses: every segment encoded once."""

from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.adapters.polarion.address import Address, sparse

ADDRESS = Address("https://h/polarion/rest/v1/")


@pytest.mark.parametrize(
    ("segments", "path"),
    [
        (("projects", "P"), "projects/P"),
        (("x", "Spec A/B"), "x/Spec%20A%2FB"),
        (("x", "50% ü & +#?"), "x/50%25%20%C3%BC%20%26%20%2B%23%3F"),
        (("x", "a%2Fb"), "x/a%252Fb"),
        (("x", "~"), "x/~"),
    ],
)
def test_a_segment_is_encoded_once(segments: tuple[str, ...], path: str) -> None:
    assert str(ADDRESS.of(*segments)) == f"https://h/polarion/rest/v1/{path}"


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_any_text_comes_back_as_one_segment(text: str) -> None:
    if text in (".", ".."):
        return
    path = ADDRESS.of("x", text).raw_path
    assert path.count("/") == 5
    assert unquote(path.rsplit("/", 1)[1]) == text


@pytest.mark.parametrize("segment", ["", ".", "..", "\ud800"])
def test_what_can_not_be_a_segment_is_refused(segment: str) -> None:
    """A dot segment would climb out of the API."""
    with pytest.raises(ValueError, match=r"part of an address|surrogates"):
        ADDRESS.of("projects", segment)


def test_parameters_are_encoded_too() -> None:
    url = ADDRESS.of("all", query={**sparse(workitems="@all"), "query": 'a:"b c" AND d&e'})
    assert url.raw_query_string == (
        "fields%5Bworkitems%5D=%40all&query=a%3A%22b%20c%22%20AND%20d%26e"
    )


def test_the_embedded_routes_stand_beside_the_api() -> None:
    assert (
        str(ADDRESS.embedded("users", "a b", "tokens"))
        == "https://h/polarion/embedded/users/a%20b/tokens"
    )
