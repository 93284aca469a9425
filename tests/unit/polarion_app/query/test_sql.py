"""Which rows a query finds: conditions run on a small database in memory."""

import json
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.resources import files

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from polarion_app.config import load
from polarion_app.embedded.query.functions import has_words, register
from polarion_app.embedded.query.sorting import order
from polarion_app.embedded.query.sql import condition
from polarion_app.embedded.query.terms import BadQuery

NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)
MODEL = load()
ROWS: tuple[tuple[int, str, str, str, str, dict[str, object], list[str]], ...] = (
    # number, type, title, status, created, other attributes, assignees
    (1, "task", "Fix the log-in page", "open", "2026-06-15T08:00:00.000Z", {"repository": "r1"}, ["rex"]),
    (2, "task", "Fix the logo", "in_review", "2026-06-10T08:00:00.000Z", {"dueDate": "2026-07-01"}, ["lead"]),
    (3, "agentRun", "Run", "ended", "2026-06-01T00:00:00.000Z", {"cost": 2.5, "inputTokens": 10}, []),
    (4, "agentRun", "Run", "running", "2026-05-31T23:59:59.999Z", {"cost": 10, "aiGenerated": True}, []),
    (5, "memory", "50% of it", "active", "2026-01-01T00:00:00.000Z", {"tags": ["x", "y"]}, ["rex", "lead"]),
    (6, "engagement", "Rex", "active", "2025-12-31T00:00:00.000Z",
     {"grants": {"type": "text/plain", "value": '{"models": ["anthropic:m"]}'}}, []),
)  # fmt: skip


@pytest.fixture(scope="module")
def db() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    connection.executescript(files("polarion_app.embedded").joinpath("schema.sql").read_text())
    register(connection)
    connection.execute("INSERT INTO project VALUES ('P', 'P', 'work', 'P', NULL, 1, 1, '', 1)")
    for number, type_id, title, status, created, attributes, assignees in ROWS:
        connection.execute(
            "INSERT INTO work_item VALUES (?, 'P', ?, ?, ?, ?, ?, 'alice', ?, ?, 1, ?)",
            (
                number,
                f"P-{number}",
                number,
                type_id,
                title,
                status,
                created,
                created,
                json.dumps(attributes),
            ),
        )
        for place, user in enumerate(assignees):
            row = (number, "assignee", place, "users", user)
            connection.execute("INSERT INTO reference VALUES (?, ?, ?, ?, ?)", row)
    connection.execute("INSERT INTO link VALUES (3, 'run_of', 'P/P-1', 0, NULL)")
    connection.execute("INSERT INTO link VALUES (4, 'run_of', 'P/P-2', 0, NULL)")
    yield connection
    connection.close()


def found(db: sqlite3.Connection, query: str, sort: str = "") -> list[int]:
    wanted, ordered = condition(query, MODEL, NOW), order(sort)
    rows = db.execute(
        f"SELECT number FROM work_item AS w WHERE {wanted.sql} ORDER BY {ordered.sql}",  # noqa: S608 - what is tested
        (*wanted.values, *ordered.values),
    )
    return [row[0] for row in rows]


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("", [1, 2, 3, 4, 5, 6]),
        ("type:task", [1, 2]),
        ("type:task AND assignee.id:rex AND NOT HAS_VALUE:resolution", [1]),
        ("assignee.id:(rex OR lead)", [1, 2, 5]),
        ("assignee:rex", [1, 5]),
        ("HAS_VALUE:assignee", [1, 2, 5]),
        ("NOT HAS_VALUE:assignee.id", [3, 4, 6]),
        ("status:(open OR in_review)", [1, 2]),
        ("status:in*", [2]),
        ("id:(P-1 P-3)", [1, 3]),
        ("id:P/P-3", [3]),
        ("id:Q/P-3", []),
        ("project.id:P AND author.id:alice", [1, 2, 3, 4, 5, 6]),
        ("author.id:bob", []),
        ("title:fix", [1, 2]),
        ('title:"the log"', [1]),
        ("title:log*", [1, 2]),
        ('"fix the logo"', [2]),
        ("P-5", [5]),
        ("repository:r1", [1]),
        ("cost:10", [4]),
        ("cost:10.0", [4]),
        ("cost:[2 TO 10]", [3, 4]),
        ("cost:{2.5 TO *]", [4]),
        ("aiGenerated:true", [4]),
        ("tags:y", [5]),
        ("grants:anthropic", [6]),
        ("dueDate:20260701", [2]),
        ("dueDate:[2026-06-01 TO 2026-07-01]", [2]),
        ("dueDate:[2026-06-01 TO 2026-07-01}", []),
        ("dueDate:{2026-07-01 TO *]", []),
        ("created:20260601", [3]),
        ("created:[20260601 TO 20260610]", [2, 3]),
        ("created:{20260601 TO 20260615}", [2]),
        ("created:$today$", [1]),
        ("created:[$today-7d$ TO $today$]", [1, 2]),
        ("created:[* TO $today-20w$]", [5, 6]),
        ("updated:[$now-6h$ TO *]", [1]),
        ("linkedWorkItems:P-1", [3]),
        (r"linkedWorkItems:P\-2", [4]),
        ("linkedWorkItems:run_of=P/P-1", [3]),
        ("linkedWorkItems:parent=P/P-1", []),
        ("HAS_VALUE:linkedWorkItems", [3, 4]),
        ("description:anything", []),
        ("module:anything", []),
        ("nobody:knows", []),
        ("NOT nobody:knows AND type:memory", [5]),
    ],
)
def test_a_query_finds(db: sqlite3.Connection, query: str, numbers: list[int]) -> None:
    assert found(db, query) == numbers


@pytest.mark.parametrize(
    ("sort", "numbers"),
    [
        ("", [1, 2, 3, 4, 5, 6]),
        ("~id", [6, 5, 4, 3, 2, 1]),
        ("created", [6, 5, 4, 3, 2, 1]),
        ("type,-created", [3, 4, 6, 5, 1, 2]),
        ("~cost", [4, 3, 1, 2, 5, 6]),
    ],
)
def test_a_list_is_sorted(db: sqlite3.Connection, sort: str, numbers: list[int]) -> None:
    """The number decides where the keys are equal."""
    assert found(db, "", sort) == numbers


def test_a_thousand_ids_are_no_problem(db: sqlite3.Connection) -> None:
    """SQLite limits the depth of an expression; ours is a balanced tree."""
    ids = " ".join(f"P-{n}" for n in range(990))
    assert found(db, f"id:({ids})") == [1, 2, 3, 4, 5, 6]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    field=st.sampled_from(
        ["id", "title", "cost", "dueDate", "linkedWorkItems", "a.id", "grants", "x"]
    ),
    value=st.text(min_size=1, max_size=20),
)
def test_no_value_breaks_out_of_its_place(db: sqlite3.Connection, field: str, value: str) -> None:
    """Whatever a value holds, the condition runs: values are bound, never part of the SQL."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    try:
        numbers = found(db, f'{field}:"{escaped}"')
    except BadQuery:
        return
    assert set(numbers) <= {1, 2, 3, 4, 5, 6}


@pytest.mark.parametrize(
    ("text", "wanted", "prefix", "result"),
    [
        ("Fix the log-in page", "LOG", 0, 1),
        ("Fix the log-in page", "log in", 0, 1),
        ("Fix the log-in page", "lo", 0, 0),
        ("Fix the log-in page", "the lo", 1, 1),
        ("Straße", "STRASSE", 0, 1),
        ("", "a", 0, 0),
        ("a", "...", 0, 0),
        (None, "a", 0, 0),
    ],
)
def test_words_are_found_whatever_their_case(
    text: str | None, wanted: str, prefix: int, result: int
) -> None:
    assert has_words(text, wanted, prefix) == bool(result)
