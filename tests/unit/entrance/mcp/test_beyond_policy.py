"""What a session may do beside calling tools: what was granted, and nothing that only looks like it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrance.decision import Allow, Deny
from entrance.mcp.beyond_policy import (
    decide_ask,
    decide_prompt,
    decide_resource,
    decide_template,
)
from entrance.session import BeyondTools, RunId, Session, TaskId

SESSION = Session(
    RunId("r"), TaskId("P/T"), "P", "bot", "10.0.0.2", "h", tools={"a": frozenset({"read", "list"})}
)


BEYOND = replace(
    SESSION,
    beyond_tools={
        "a": BeyondTools(
            frozenset({"greet"}), ("file:///docs/*", "mem://one"), frozenset({"elicitation"})
        ),
        "b": BeyondTools(frozenset({"greet"}), ("*",), frozenset({"sampling"})),
    },
)


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
    assert isinstance(decide_resource(BEYOND, "a", uri), Allow) is allowed


def test_beyond_tools_nothing_is_open_at_a_connection_without_tools() -> None:
    assert isinstance(decide_resource(BEYOND, "b", "x"), Deny)
    assert isinstance(decide_prompt(BEYOND, "b", "greet"), Deny)
    assert isinstance(decide_ask(BEYOND, "b", "sampling"), Deny)


def test_a_template_is_shown_when_whatever_it_makes_is_granted() -> None:
    assert isinstance(decide_template(BEYOND, "a", "file:///docs/{name}"), Allow)
    assert isinstance(decide_template(BEYOND, "a", "file:///{name}"), Deny)
    assert isinstance(decide_template(BEYOND, "a", "{uri}"), Deny)


def test_a_server_may_ask_only_what_it_was_granted() -> None:
    assert isinstance(decide_ask(BEYOND, "a", "elicitation"), Allow)
    assert isinstance(decide_ask(BEYOND, "a", "sampling"), Deny)
    assert isinstance(decide_ask(BEYOND, "a", None), Deny)


NAMES = st.sampled_from(["a", "b", "c", "", "A", "*"])
GRANTS = st.dictionaries(NAMES, st.frozensets(NAMES))
MORE = st.dictionaries(
    NAMES, st.builds(BeyondTools, st.frozensets(NAMES), st.lists(NAMES).map(tuple))
)


@given(GRANTS, MORE, NAMES, NAMES)
def test_there_is_no_way_from_not_granted_to_allow(
    tools: dict[str, frozenset[str]], more: dict[str, BeyondTools], connection: str, name: str
) -> None:
    """Against an oracle that only knows: it was named, or a star stands for what begins with it."""
    session = replace(SESSION, tools=tools, beyond_tools=more)
    beyond = more.get(connection, BeyondTools()) if connection in tools else BeyondTools()
    prompt = isinstance(decide_prompt(session, connection, name), Allow)
    assert prompt is (name in beyond.prompts)
    if isinstance(decide_resource(session, connection, name), Allow):
        assert name in beyond.resources or "*" in beyond.resources
