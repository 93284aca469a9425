"""Anybody's SQL reads the log's attempts, and does nothing else."""

import tempfile
import time
from pathlib import Path

import duckdb
import pytest

from entrance.errors import Unavailable
from orchestrator.egress.columns import COLUMNS
from orchestrator.egress.database import attempts
from orchestrator.egress.query import Limits, query
from orchestrator.egress.statement import QueryRefused, check
from tests.fakes.egress_log import FakeEgressLog

MIB = 1 << 20


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    log = FakeEgressLog(tmp_path_factory.mktemp("log"))
    for number in range(5):
        log.attempt(host=f"{number}.example")
    log.seal()
    log.decided(decision="deny", host="evil.example")
    return log.folder


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT host, count(*) FROM attempts GROUP BY ALL ORDER BY 2 DESC LIMIT 3", 3),
        ("FROM attempts WHERE decided_at > '2026-01-01' AND since IS NULL AND call IS NULL", 6),
        (
            "WITH slow AS (SELECT * FROM attempts WHERE ms > 10) FROM slow JOIN slow s USING (run)",
            25,
        ),
        ("WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 3) FROM n", 3),
        ("SELECT 1 UNION ALL SELECT 2 EXCEPT SELECT 1", 1),
        ("SELECT detail->>'$.why', unnest([1, 2]) FROM attempts, range(2)", 24),
        ("SELECT row_number() OVER (PARTITION BY host ORDER BY seq) FROM Attempts -- a comment", 6),
        ("DESCRIBE attempts", len(COLUMNS)),
        ("SUMMARIZE attempts", len(COLUMNS)),
        ("SELECT * FROM attempts ORDER BY seq;", 6),
    ],
)
def test_what_only_reads_may_be_asked(folder: Path, sql: str, rows: int) -> None:
    with attempts(folder) as connection:
        check(connection, sql)
        assert len(connection.execute(sql).fetchall()) == rows


FORBIDDEN = [
    "COPY attempts TO '/tmp/stolen.csv'",
    "COPY (FROM attempts) TO 'stolen.parquet'",
    "WITH x AS (COPY (SELECT 1) TO '{parquet}') SELECT 1",
    "SELECT (WITH x AS (COPY (SELECT 1) TO '{parquet}') SELECT 1)",
    "WITH x AS MATERIALIZED (COPY (SELECT 1) TO '{parquet}') SELECT 1",
    "EXPLAIN ANALYZE COPY (SELECT 1) TO '{parquet}'",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_blob('{log}')",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_parquet('{parquet}')",
    "SELECT * FROM parquet_metadata('{parquet}')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM '{parquet}'",
    "SELECT * FROM glob('/*')",
    "SELECT * FROM query('SELECT 1')",
    "SELECT * FROM query_table('attempts')",
    "SELECT * FROM duckdb_settings()",
    "SELECT * FROM duckdb_secrets()",
    "SELECT * FROM fresh",
    "SELECT * FROM late",
    "SELECT * FROM main.attempts",
    "SELECT * FROM pg_catalog.pg_tables",
    "SELECT * FROM information_schema.tables",
    "SELECT * FROM folder",
    "SELECT * FROM (SELECT * FROM attempts WHERE seq IN (SELECT 1 FROM read_text('/etc/passwd')))",
    "WITH attempts2 AS (FROM read_text('/etc/passwd')) FROM attempts2",
    "WITH x AS (INSERT INTO late FROM late RETURNING *) FROM x",
    "WITH x AS (DELETE FROM late RETURNING *) FROM x",
    "INSERT INTO late FROM late",
    "DELETE FROM attempts",
    "DROP VIEW attempts",
    "CREATE TABLE t AS FROM attempts",
    "CREATE FUNCTION f() AS 1",
    "ATTACH '/tmp/other.db'",
    "ATTACH ':memory:' AS m",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET memory_limit = '1TB'",
    "RESET ALL",
    "PRAGMA enable_external_access",
    "CALL duckdb_extensions()",
    "EXPORT DATABASE '/tmp/stolen'",
    "IMPORT DATABASE '/tmp/stolen'",
    "CHECKPOINT",
    "VACUUM",
    "USE memory",
    "PREPARE p AS SELECT 1",
    "EXECUTE p",
    "BEGIN",
    "SELECT 1; SELECT 2",
    "SELECT 1; COPY (SELECT 1) TO '{parquet}'",
    "",
    ";",
    "-- nothing",
    "SELEC",
    "\x00",
]


@pytest.mark.parametrize("sql", FORBIDDEN)
def test_everything_else_is_refused(folder: Path, sql: str) -> None:
    with attempts(folder) as connection:
        (parquet,) = folder.glob("*.parquet")
        before = parquet.read_bytes()
        said = sql.replace("{parquet}", str(parquet)).replace(
            "{log}", str(folder / "egress-00000001.jsonl")
        )
        with pytest.raises(QueryRefused):
            check(connection, said)
        assert parquet.read_bytes() == before


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_text('/etc/passwd')",
        "COPY (SELECT 1) TO '/tmp/sandgate-stolen.csv'",
        "SELECT * FROM read_blob('{log}')",
        "COPY (SELECT 1) TO '{log}'",
        "ATTACH '/tmp/sandgate-other.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET memory_limit = '1TB'",
        "SET enable_external_access = true",
        "SET allowed_paths = ['/etc/passwd']",
        "SELECT * FROM folder",
    ],
)
def test_the_connection_itself_can_do_no_more(folder: Path, sql: str) -> None:
    said = sql.replace("{log}", str(folder / "egress-00000001.jsonl"))
    with attempts(folder) as connection, pytest.raises(duckdb.Error):
        connection.execute(said).fetchall()


def test_an_answer_comes_with_its_columns(folder: Path) -> None:
    sql = "SELECT seq, host, decided_at, port FROM attempts ORDER BY seq LIMIT 1"
    with query(folder, sql) as answer:
        rows = list(answer.rows())
    assert answer.columns == ["seq", "host", "decided_at", "port"]
    assert answer.types == ["BIGINT", "VARCHAR", "TIMESTAMP", "INTEGER"]
    assert rows == [[2, "0.example", "2026-11-30T12:00:02+00:00", 443]]
    assert not answer.cut


def test_values_that_json_has_not_become_text(folder: Path) -> None:
    sql = (
        "SELECT 1e30::HUGEINT h, 'ab'::BLOB b, 0.10::DECIMAL(4,2) d, 'nan'::DOUBLE n, MAP {1: 2} m"
    )
    with query(folder, sql) as answer:
        (row,) = answer.rows()
    assert row[0] == "1000000000000000019884624838656"
    assert row[1:3] == ["6162", "0.10"]


def test_json_stays_json(folder: Path) -> None:
    sql = "SELECT detail, NULL::JSON n, '[1]'::JSON j FROM attempts ORDER BY seq LIMIT 1"
    with query(folder, sql) as answer:
        assert list(answer.rows()) == [[{}, None, [1]]]


def test_more_rows_than_wanted_are_cut_and_that_is_said(folder: Path) -> None:
    with query(folder, "FROM attempts", limits=Limits(rows=2)) as answer:
        assert (len(list(answer.rows())), answer.cut) == (2, True)
    with query(folder, "FROM attempts", limits=Limits(rows=6)) as answer:
        assert (len(list(answer.rows())), answer.cut) == (6, False)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT length(repeat('x', 1500000000))",
        "SELECT len(range(400000000))",
        "SELECT count(*) FROM (SELECT i FROM range(100000000) t(i) GROUP BY i)",
    ],
)
def test_a_query_that_wants_too_much_memory_is_ended(folder: Path, sql: str) -> None:
    limits = Limits(memory_bytes=200 * MIB)
    with (
        pytest.raises(QueryRefused, match=r"memory|Memory"),
        query(folder, sql, limits=limits) as answer,
    ):
        list(answer.rows())


def test_a_query_that_takes_too_long_is_ended(folder: Path) -> None:
    began = time.monotonic()
    with (
        pytest.raises(QueryRefused, match="longer than 3 s"),
        query(folder, "SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b",
              limits=Limits(seconds=3)) as answer,
    ):  # fmt: skip
        list(answer.rows())
    assert time.monotonic() - began < 30


def test_a_mistake_is_told_as_the_database_says_it(folder: Path) -> None:
    with pytest.raises(QueryRefused, match="nope"), query(folder, "SELECT nope FROM attempts"):
        pass


def test_what_is_left_in_the_middle_leaves_no_process_and_no_file(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with query(folder, "SELECT unnest(range(1000000))", limits=Limits(rows=10**6)) as answer:
        assert next(iter(answer.rows())) == [0]
        assert list(tmp_path.glob("sandgate-query-*"))
    assert answer._process.returncode is not None
    assert not list(tmp_path.glob("sandgate-query-*"))


def test_where_there_is_no_log_that_is_said(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="no egress log"), query(tmp_path / "none", "SELECT 1"):
        pass
