"""A log of a test's own, and what is recorded in it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from entrance.decision import Allow, Deny
from entrance.log.egress_log import EgressLog
from entrance.log.records import Decided
from entrance.log.segments import Rules
from entrance.log.shelf import Shelf
from entrance.session import RunId, Session, TaskId
from tests.servers.log import open_log

SESSION = Session(RunId("r"), TaskId("P/T"), "P", "bot", "10.0.0.2", "secret-hash", sandbox="sb-1")
RECORD = Decided("request", "GET /x", Deny("no"), SESSION)
ALLOWED = replace(RECORD, decision=Allow())


@asynccontextmanager
async def opened(folder: Path, rules: Rules | None = None) -> AsyncIterator[EgressLog]:
    """It is closed with the block."""
    log = open_log(folder, rules)
    yield log
    await log.close()


def segment(folder: Path, number: int = 1) -> Path:
    """One of its files."""
    return Shelf(folder).segment(number)
