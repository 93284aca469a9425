"""What rules are tried on: the attempts in the log that didn't get through."""

from datetime import UTC, timedelta
from pathlib import Path

import pytest

from entrance.errors import Unavailable
from entrance.mcp.recorded import of_arguments
from orchestrator.adapters.egress_record import RecordedAttempts
from orchestrator.domain.access import Attempt
from tests.fakes.egress_log import BEGAN, FakeEgressLog

SINCE = BEGAN - timedelta(days=1)


async def test_what_did_not_get_through_is_there_newest_first(tmp_path: Path) -> None:
    log = FakeEgressLog(tmp_path / "log")
    log.attempt()
    log.decided(decision="deny", url="https://a.example/x", host="a.example")
    log.seal()
    log.decided(decision="hold", url="https://b.example/y", method="HEAD", host="b.example")
    log.decided(decision="deny", kind="connect", method="CONNECT", url="", host="c.example")
    log.decided(decision="deny", door="mcp", kind="tool_call")
    tunnel, held, denied = await RecordedAttempts(log.folder).attempts(SINCE)
    assert (tunnel.url, tunnel.tunnel) == ("https://c.example:443/", True)
    assert (held.method, held.url, held.decision) == ("HEAD", "https://b.example/y", "hold")
    assert denied == Attempt(
        denied.at, "GET", "https://a.example/x", "deny", "run-1", "bot-rex", "WEB"
    )
    assert denied.at.tzinfo == UTC
    assert BEGAN < denied.at < BEGAN + timedelta(minutes=1)


async def test_what_is_older_is_left_out_and_a_log_that_is_not_there_is_said(
    tmp_path: Path,
) -> None:
    log = FakeEgressLog(tmp_path / "log")
    log.decided(decision="deny")
    record = RecordedAttempts(log.folder)
    assert len(await record.attempts(SINCE)) == 1
    assert await record.attempts(BEGAN + timedelta(days=1)) == []
    with pytest.raises(Unavailable, match="none"):
        await RecordedAttempts(tmp_path / "none").attempts(SINCE)


async def test_held_calls_are_there_with_their_arguments_where_they_were_kept_whole(
    tmp_path: Path,
) -> None:
    log = FakeEgressLog(tmp_path / "log")
    secret = of_arguments({"page": "Home", "password": "x"})
    for detail, decision in (
        (of_arguments({"page": "Home"}), "hold"),
        (secret, "hold"),
        (of_arguments({"page": "Help"}), "allow"),
        ({}, "hold"),
    ):
        log.decided(
            door="mcp", kind="tool_call", subject="wiki/write", decision=decision, detail=detail
        )
    log.decided(decision="hold", url="https://b.example/y", host="b.example")
    nothing, hidden, whole = await RecordedAttempts(log.folder).calls(SINCE)
    assert (whole.connection, whole.tool, whole.arguments) == ("wiki", "write", {"page": "Home"})
    assert whole.sha256 == of_arguments({"page": "Home"})["arguments_sha256"]
    assert (hidden.arguments, hidden.sha256) == (None, secret["arguments_sha256"])
    assert (nothing.arguments, nothing.sha256) == (None, "")
    assert await RecordedAttempts(log.folder).calls(BEGAN + timedelta(days=1)) == []
