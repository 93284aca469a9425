"""The names that tools are shown under."""

import random
import re
from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from entrance.mcp.catalogue import Granted, catalogue, names_of
from entrance.mcp.names import PREFIX

FITS = re.compile(r"[A-Za-z0-9_-]{1,64}")
SEEN = Granted(others=True)


def tool(name: object) -> dict[str, object]:
    return {"name": name, "inputSchema": {"type": "object"}}


def named(*names: str) -> Granted:
    return Granted(frozenset(names))


def shown(
    offered: Mapping[str, Sequence[str]], granted: Mapping[str, Granted]
) -> dict[tuple[str, str], str]:
    """The name of each tool."""
    tools = {name: [tool(each) for each in many] for name, many in offered.items()}
    entries = catalogue(tools, granted)
    return {(entry.connection, entry.name): name for name, entry in entries.items()}


def test_names_are_kept_and_only_doubles_carry_their_connection() -> None:
    """CASE-65: two connections both offer `search`."""
    granted = {"wiki": named("search"), "code": named("search", "open")}
    assert shown({"wiki": ["search"], "code": ["search", "open"]}, granted) == {
        ("wiki", "search"): "wiki_search",
        ("code", "search"): "code_search",
        ("code", "open"): "open",
    }


def test_a_name_is_the_same_while_the_other_server_is_away() -> None:
    """Else a call that was meant for one of them could reach the other."""
    granted = {"wiki": named("search", "code_search"), "code": named("search")}
    both = shown({"wiki": ["search", "code_search"], "code": ["search"]}, granted)
    alone = shown({"wiki": ["search", "code_search"]}, granted)
    assert alone == {tool: name for tool, name in both.items() if tool[0] == "wiki"}
    assert both["code", "search"] not in alone.values()


def test_what_nobody_has_named_takes_no_name_that_was_granted() -> None:
    granted = {"wiki": Granted(frozenset({"search"}), others=True), "new": SEEN}
    names = shown({"wiki": ["search", "open"], "new": ["search", "open", "wiki_open"]}, granted)
    assert names["wiki", "search"] == "search"
    assert names["wiki", "open"] == "wiki_open"
    assert names["new", "search"] == "new_search"
    assert names["new", "wiki_open"] == "new_wiki_open"


def test_what_is_neither_granted_nor_seen_hides_nothing() -> None:
    granted = {"wiki": named("search"), "other": named()}
    names = shown({"wiki": ["search"], "other": ["search", "drop"]}, granted)
    assert names == {("wiki", "search"): "search", ("other", "drop"): "drop"}


def test_names_that_clients_do_not_take_are_made_to_fit() -> None:
    names = ["search.items/v2", "search items v2", "x" * 90, "ünï", "ok-1"]
    found = shown({"wiki": names}, {"wiki": named(*names)})
    assert all(FITS.fullmatch(PREFIX + name) for name in found.values())
    assert {name for _, name in found} == set(names)
    assert found["wiki", "ok-1"] == "ok-1"


def test_what_has_no_name_is_left_out_and_a_name_that_comes_twice_counts_once() -> None:
    first = {**tool("a"), "description": "first"}
    offered = [first, tool("a"), tool(3), {}, "x", tool("")]
    entries = catalogue({"wiki": offered}, {"wiki": named("a")})  # type: ignore[dict-item]
    assert [entry.listed for entry in entries.values()] == [first]


CONNECTIONS = st.sampled_from(["a", "b", "a_b", "a.b"])
NAMES = st.sampled_from(["x", "b_x", "a_x", "b.x", "y" * 70, "y" * 71, "x_", "a_b_x"])
GRANTS = st.dictionaries(CONNECTIONS, st.builds(Granted, st.frozensets(NAMES), st.booleans()))


@given(st.dictionaries(CONNECTIONS, st.lists(NAMES, max_size=5)), GRANTS)
def test_no_tool_that_may_be_used_hides_another_and_every_name_fits(
    offered: dict[str, list[str]], granted: dict[str, Granted]
) -> None:
    found = shown(offered, granted)
    for connection, many in offered.items():
        mine = granted.get(connection, Granted())
        assert all(
            (connection, each) in found for each in many if mine.others or each in mine.names
        )
    for (connection, each), name in found.items():
        mine = granted.get(connection, Granted())
        if mine.others or each in mine.names:
            assert FITS.fullmatch(PREFIX + name)


@given(
    st.dictionaries(CONNECTIONS, st.lists(NAMES, max_size=5)),
    GRANTS,
    st.randoms(use_true_random=False),
)
def test_the_name_of_what_was_granted_depends_on_the_grants_alone(
    offered: dict[str, list[str]], granted: dict[str, Granted], chance: random.Random
) -> None:
    names = names_of({connection: each.names for connection, each in granted.items()})
    assert len(set(names.values())) == len(names)
    mixed = list(offered.items())
    chance.shuffle(mixed)
    some = {name: chance.sample(many, chance.randint(0, len(many))) for name, many in mixed}
    for tool_, name in shown(some, granted).items():
        assert tool_ not in names or names[tool_] == name
