"""What the text of a query means."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polarion_app.embedded.query.lucene import read
from polarion_app.embedded.query.terms import And, BadQuery, HasValue, Not, Or, Query, Range, Term


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("", None),
        ("   ", None),
        ("login", Term(None, "login")),
        ("type:task", Term("type", "task")),
        ("assignee.id:bot-rex", Term("assignee.id", "bot-rex")),
        ('model:"anthropic:x"', Term("model", "anthropic:x", phrase=True)),
        (r"linkedWorkItems:W\-2", Term("linkedWorkItems", "W-2")),
        ("linkedWorkItems:run_of=P/W-3", Term("linkedWorkItems", "run_of=P/W-3")),
        ("title:foo*", Term("title", "foo", prefix=True)),
        ("title:*", HasValue("title")),
        ("HAS_VALUE:resolution", HasValue("resolution")),
        ("a:1 AND b:2", And((Term("a", "1"), Term("b", "2")))),
        ("a:1 b:2", And((Term("a", "1"), Term("b", "2")))),
        ("a:1 OR b:2", Or((Term("a", "1"), Term("b", "2")))),
        ("id:(A-1 A-2)", Or((Term("id", "A-1"), Term("id", "A-2")))),
        ("status:(open OR reopened)", Or((Term("status", "open"), Term("status", "reopened")))),
        ("NOT a:1", Not(Term("a", "1"))),
        ("-a:1", Not(Term("a", "1"))),
        ("updated:[20261101 TO 20261130]", Range("updated", "20261101", "20261130")),
        ("created:[$today-7d$ TO *]", Range("created", "$today-7d$", None)),
        ("cost:{1 TO 5]", Range("cost", "1", "5", include_low=False)),
    ],
)
def test_a_query_means(text: str, meaning: Query | None) -> None:
    assert read(text) == meaning


@pytest.mark.parametrize(
    "text",
    [
        "*a",
        "a:*b",
        "a:?b",
        "a:b?c",
        "((a",
        "a:",
        "a:b:c",
        "a && b",
        "SQL:(SELECT 1)",
        "x:>5",
        "a~",
        "[1 TO 2]",
    ],
)
def test_a_query_is_refused_with_a_reason(text: str) -> None:
    """CASE-112 among them."""
    with pytest.raises(BadQuery, match=r"\w"):
        read(text)


def why_refused(text: str) -> str | None:
    try:
        read(text)
    except BadQuery as refused:
        return str(refused)
    return None


@given(st.text(max_size=60))
def test_no_text_does_more_than_being_refused(text: str) -> None:
    """Any text is a query or a BadQuery that says why, nothing else."""
    assert why_refused(text) != ""
