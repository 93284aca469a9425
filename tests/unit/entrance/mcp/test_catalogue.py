"""The names that tools are shown under."""

from entrance.mcp.catalogue import catalogue, granted
from entrance.ports import Tool
from entrance.session import RunId, Session, TaskId


def tool(name: str) -> Tool:
    return Tool(name, "", {"type": "object"})


def test_names_are_kept_and_only_doubles_carry_their_connection() -> None:
    """CASE-65: two connections both offer `search`."""
    entries = catalogue({"wiki": [tool("search")], "code": [tool("search"), tool("open")]})
    assert sorted(entries) == ["code_search", "open", "wiki_search"]
    assert entries["wiki_search"].connection == "wiki"
    assert entries["wiki_search"].tool.name == "search"


def test_only_what_was_granted_is_shown() -> None:
    session = Session(
        RunId("r"), TaskId("P/T"), "P", "bot", "a", "h", tools={"code": frozenset({"open", "gone"})}
    )
    entries = catalogue({"code": [tool("open"), tool("delete")], "wiki": [tool("search")]})
    assert [entry.shown for entry in granted(session, entries)] == ["open"]


def test_a_name_that_is_made_up_like_anothers_does_not_hide_it() -> None:
    offered = {"a": [tool("b_x"), tool("x")], "b": [tool("x")], "a_b": [tool("x")]}
    entries = catalogue(offered)
    assert {(entry.connection, entry.tool.name) for entry in entries.values()} == {
        ("a", "b_x"),
        ("a", "x"),
        ("b", "x"),
        ("a_b", "x"),
    }
    assert all(entry.shown == shown for shown, entry in entries.items())
