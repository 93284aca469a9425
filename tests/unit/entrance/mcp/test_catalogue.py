"""The names that tools are shown under."""

import re

from hypothesis import given
from hypothesis import strategies as st

from entrance.mcp.catalogue import catalogue

FITS = re.compile(r"[A-Za-z0-9_-]{1,64}")


def tool(name: object) -> dict[str, object]:
    return {"name": name, "inputSchema": {"type": "object"}}


def test_names_are_kept_and_only_doubles_carry_their_connection() -> None:
    """CASE-65: two connections both offer `search`."""
    entries = catalogue({"wiki": [tool("search")], "code": [tool("search"), tool("open")]})
    assert sorted(entries) == ["code_search", "open", "wiki_search"]
    assert entries["wiki_search"].connection == "wiki"
    assert entries["wiki_search"].name == "search"


def test_a_name_that_is_made_up_like_anothers_does_not_hide_it() -> None:
    offered = {"a": [tool("b_x"), tool("x")], "b": [tool("x")], "a_b": [tool("x")]}
    entries = catalogue(offered)
    assert {(entry.connection, entry.name) for entry in entries.values()} == {
        ("a", "b_x"),
        ("a", "x"),
        ("b", "x"),
        ("a_b", "x"),
    }
    assert all(entry.shown == shown for shown, entry in entries.items())


def test_names_that_clients_do_not_take_are_made_to_fit_and_stay_the_same() -> None:
    names = ["search.items/v2", "search items v2", "x" * 90, "ünï", "ok-1"]
    entries = catalogue({"wiki": [tool(name) for name in names]})
    assert all(FITS.fullmatch(shown) for shown in entries)
    assert {entry.name for entry in entries.values()} == set(names)
    assert list(entries) == list(catalogue({"wiki": [tool(name) for name in names]}))
    assert "ok-1" in entries


def test_what_has_no_name_is_left_out_and_a_name_that_comes_twice_counts_once() -> None:
    first = {**tool("a"), "description": "first"}
    entries = catalogue({"wiki": [first, tool("a"), tool(3), {}, "x", tool("")]})  # type: ignore[list-item]
    assert [entry.listed for entry in entries.values()] == [first]


@given(
    st.dictionaries(
        st.sampled_from(["a", "b", "a_b", "a.b"]),
        st.lists(st.sampled_from(["x", "b_x", "a_x", "b.x", "y" * 70, "x_"]), max_size=4),
        max_size=4,
    )
)
def test_no_tool_hides_another_and_every_name_fits(offered: dict[str, list[str]]) -> None:
    entries = catalogue({name: [tool(each) for each in many] for name, many in offered.items()})
    wanted = {(name, each) for name, many in offered.items() for each in many}
    assert {(entry.connection, entry.name) for entry in entries.values()} == wanted
    assert all(FITS.fullmatch(shown) for shown in entries)
