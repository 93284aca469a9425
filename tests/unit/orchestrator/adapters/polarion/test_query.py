"""A value never becomes a part of the query that it is put into."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.adapters.polarion.query import matching, quoted
from polarion_app.embedded.query.lucene import read
from polarion_app.embedded.query.terms import And, Or, Query, Term

LUCENE = st.text("ab\"\\ ():*?~^[]{}!+-&|/$\n\t'=ANDORNT", max_size=16)
VALUES = LUCENE | st.text(max_size=30)


def phrase(field: str, value: str) -> Query:
    return Term(field, value, phrase=True)


@given(VALUES, st.lists(VALUES, min_size=2, max_size=5))
def test_the_server_reads_exactly_the_values_that_were_put_in(one: str, several: list[str]) -> None:
    query = matching({"botUser": one, "assignee.id": several})
    assert read(query) == And(
        (phrase("botUser", one), Or(tuple(phrase("assignee.id", each) for each in several)))
    )


@pytest.mark.parametrize(
    "value",
    [
        'x" OR type:"agentRun',
        "x OR NOT HAS_VALUE:botUser",
        "bot-*",
        "*",
        "[a TO z]",
        'x\\" OR a:"',
        "\\",
        '"',
        "",
        "SQL:(select 1)",
        "$today$",
    ],
)
def test_what_would_change_a_query_is_only_a_value(value: str) -> None:
    assert read(matching({"botUser": value})) == phrase("botUser", value)
    assert read(quoted(value)) == Term(None, value, phrase=True)


def test_a_query_reads_as_people_write_it() -> None:
    assert (
        matching({"type": "task", "status": ["open", "answered"], "assignee.id": ["bot-rex"]})
        == 'type:"task" AND status:("open" OR "answered") AND assignee.id:("bot-rex")'
    )
