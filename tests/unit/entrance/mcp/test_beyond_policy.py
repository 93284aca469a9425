"""What a session may do beside calling tools: what was granted, and nothing that only looks like it."""

from dataclasses import replace
from typing import Literal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from entrance.mcp.beyond_policy import RULES, Wish, asks_of, decide_beyond, is_open
from entrance.session import RunId, Session, TaskId
from entrance.tool_policy import BeyondTools, Bounds, ConnectionRules

KindOfWish = Literal["prompt", "resource", "template", "ask"]
MORE = BeyondTools(
    frozenset({"greet"}), ("file:///docs/*", "mem://one"), frozenset({"elicitation", "roots"})
)


def session(**rules: ConnectionRules) -> Session:
    tools = {"plain": frozenset({"read"})}
    return Session(
        RunId("r"), TaskId("P/T"), "P", "bot", "10.0.0.2", "h", tools=tools, tool_rules=rules
    )


MINE = session(a=ConnectionRules(more=MORE))


@pytest.mark.parametrize(
    ("uri", "allowed"),
    [
        ("file:///docs/a.txt", True),
        ("file:///docs/a/b", True),
        ("mem://one", True),
        ("mem://one/two", False),
        ("file:///etc/passwd", False),
        ("file:///docs/../etc/passwd", False),
        ("file:///docs/..", False),
        ("file:///docs/%2e%2e/etc/passwd", False),
        ("file:///docs/.%2E/etc", False),
        ("file:///docs/..%2fetc", False),
        ("file:///docs/..\\etc", False),
        ("file:///docs/a\n", False),
        ("file:///docs/*", True),
        ("FILE:///docs/a", False),
        ("", False),
    ],
)
def test_a_resource_may_be_read_that_is_granted_or_lies_below_what_is(
    uri: str, *, allowed: bool
) -> None:
    assert is_open(MINE, Wish("resource", "a", uri)) is allowed


@pytest.mark.parametrize(
    ("kind", "connection", "name", "bounds", "rule"),
    [
        pytest.param("prompt", "a", "greet", Bounds(), "granted", id="a prompt"),
        pytest.param("prompt", "a", "GREET", Bounds(), "beyond_not_granted", id="another"),
        pytest.param("prompt", "b", "greet", Bounds(), "connection_not_granted", id="another's"),
        pytest.param("prompt", "plain", "greet", Bounds(), "beyond_not_granted", id="of a list"),
        pytest.param("ask", "a", "elicitation", Bounds(), "granted", id="a question"),
        pytest.param("ask", "a", "sampling", Bounds(), "beyond_not_granted", id="another one"),
        pytest.param("ask", "a", "something unknown", Bounds(), "beyond_not_granted", id="unknown"),
        pytest.param("template", "a", "file:///docs/{name}", Bounds(), "granted", id="a template"),
        pytest.param("template", "a", "file:///{name}", Bounds(), "beyond_not_granted", id="wider"),
        pytest.param("template", "a", "{uri}", Bounds(), "any_uri", id="of any URI"),
        pytest.param(
            "prompt", "a", "greet", Bounds(prompts=frozenset()), "connection_forbids",
            id="a prompt that its connection opens to nobody",
        ),
        pytest.param(
            "resource", "a", "file:///docs/b", Bounds(resources=("file:///docs/a*",)),
            "connection_forbids", id="a resource beside those that it opens",
        ),
        pytest.param(
            "ask", "a", "roots", Bounds(asks=frozenset({"roots", "sampling"})), "granted",
            id="a question that it may ask",
        ),
        pytest.param(
            "ask", "a", "sampling", Bounds(asks=frozenset({"roots", "sampling"})),
            "beyond_not_granted", id="a connection opens nothing by itself",
        ),
    ],
)  # fmt: skip
def test_a_row_of_the_table_decides(
    kind: KindOfWish, connection: str, name: str, bounds: Bounds, rule: str
) -> None:
    assert decide_beyond(MINE, Wish(kind, connection, name, bounds)).rule == rule


def test_a_server_is_told_only_of_what_it_may_ask() -> None:
    assert asks_of(MINE, "a", Bounds()) == {"elicitation", "roots"}
    assert asks_of(MINE, "a", Bounds(asks=frozenset({"roots", "sampling"}))) == {"roots"}
    assert asks_of(MINE, "plain", Bounds()) == frozenset()


def test_the_names_of_the_rules_are_their_own() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)


NAMES = st.sampled_from(["a", "b", "ab", "", "A", "*", "a*"])
ASKS = st.frozensets(st.sampled_from(["sampling", "elicitation"]))
GRANTED = st.builds(BeyondTools, st.frozensets(NAMES), st.lists(NAMES).map(tuple), ASKS)
BOUNDS = st.builds(
    Bounds,
    st.none() | st.frozensets(NAMES),
    st.none() | st.lists(NAMES).map(tuple),
    st.none() | ASKS,
)
KINDS: st.SearchStrategy[KindOfWish] = st.sampled_from(["prompt", "resource", "template", "ask"])


@given(
    st.dictionaries(st.sampled_from(["a", "b"]), GRANTED),
    KINDS,
    st.sampled_from(["a", "b", "c", "plain"]),
    NAMES | st.sampled_from(["sampling", "a{x}", "{x}"]),
    BOUNDS,
)
@example({"a": BeyondTools(resources=("a",))}, "resource", "a", "a{x}", Bounds())
def test_nothing_that_was_not_granted_is_open(
    granted: dict[str, BeyondTools], kind: KindOfWish, connection: str, name: str, bounds: Bounds
) -> None:
    """Against an oracle that only knows: it was named, or a star stands for what begins with it."""
    mine = session(**{one: ConnectionRules(more=more) for one, more in granted.items()})
    wish = Wish(kind, connection, name, bounds)
    more = granted.get(connection, BeyondTools())
    start = name.partition("{")[0] if kind == "template" else name

    def below(patterns: tuple[str, ...]) -> bool:
        return any(
            start.startswith(each[:-1]) if each.endswith("*") else start == each
            for each in patterns
        )

    named = {
        "prompt": name in more.prompts,
        "ask": name in more.asks,
        "resource": below(more.resources),
        "template": bool(start) and below(more.resources),
    }[kind]
    bound = {
        "prompt": bounds.prompts is None or name in bounds.prompts,
        "ask": bounds.asks is None or name in bounds.asks,
    }.get(kind, bounds.resources is None or below(bounds.resources))
    assert is_open(mine, wish) is (named and bound)
    assert not is_open(replace(mine, tools={}, tool_rules={}), wish)
