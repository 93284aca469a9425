"""Every query that a page shows is one that the log answers."""

import re
from pathlib import Path

import pytest

from orchestrator.egress.database import attempts
from orchestrator.egress.statement import check
from tests.fakes.egress_log import FakeEgressLog

ROOT = Path(__file__).resolve().parents[3]
SHOWN = re.compile(r"`(SELECT [^`]+)`|egress query \"([^\"]+)\"")
QUERIES = [
    pytest.param(found[1] or found[2], id=f"{page.stem}-{number}")
    for page in sorted((ROOT / "docs").rglob("*.md"))
    for number, found in enumerate(SHOWN.finditer(page.read_text()))
]


@pytest.fixture
def log(tmp_path: Path) -> FakeEgressLog:
    """The same content sent to two hosts and got from them, a refusal, a tool call, and no end of one."""
    log = FakeEgressLog(tmp_path / "log")
    for host in ("files.example", "b.example"):
        log.came(log.decided(host=host), request_sha256="ab", response_sha256="...")
    log.decided(decision="deny", host="evil.example", reason="no rule allows it")
    log.came(log.decided(door="mcp", kind="tool_call", subject="polarion:get_item"))
    log.decided()
    return log


@pytest.mark.parametrize("sql", QUERIES)
def test_every_query_on_a_page_finds_what_it_is_for(log: FakeEgressLog, sql: str) -> None:
    with attempts(log.folder) as connection:
        check(connection, sql)
        assert connection.execute(sql).fetchall()


def test_queries_are_found() -> None:
    assert len(QUERIES) > 5
