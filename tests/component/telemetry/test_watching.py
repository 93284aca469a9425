"""Metrics and traces as the runner has them: from the log on the disk to Prometheus and a collector."""

from contextlib import AsyncExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import orjson
import pytest

from entrance.errors import Malformed
from orchestrator.app.watching import Watching, make_watching
from orchestrator.domain.run import Outcome
from orchestrator.settings import Log, Settings, Telemetry
from tests.component.telemetry.collector import Collector
from tests.fakes.approvals import Inbox
from tests.fakes.egress_log import FakeEgressLog
from tests.fakes.run import a_run
from tests.fakes.world import FakeWorld


def made(
    fakes: FakeWorld, folder: Path, stack: AsyncExitStack, telemetry: Telemetry | None = None
) -> Watching:
    given: Any = {"name": "sg", "telemetry": telemetry or Telemetry()}
    log = Log(folder=folder, key_file=folder / "key", socket=folder / "socket")
    settings = Settings.model_construct(**given, log=log)
    parts: Any = SimpleNamespace(world=fakes.world(), inbox=Inbox(fakes))
    return make_watching(settings, parts, stack, lambda: "the fence is down")


async def test_metrics_say_what_the_log_the_store_and_the_inbox_say(tmp_path: Path) -> None:
    fakes, log = FakeWorld(tmp_path / "world"), FakeEgressLog(tmp_path / "log")
    await fakes.runs.create(a_run())
    async with AsyncExitStack() as stack:
        watching = made(fakes, log.folder, stack)
        await watching.following.look()
        log.attempt()
        (log.folder / "head.json").write_bytes(
            orjson.dumps({"segment": 1, "bytes": 1, "last_seq": 2})
        )
        await watching.following.look()
        text = (await watching.render()).decode()
    assert 'sandgate_attempts_total{decision="allow",door="egress"} 1.0' in text
    assert 'sandgate_runs{state="queued"} 1.0' in text
    assert "sandgate_closed 1.0" in text
    assert "sandgate_log_unvouched_records 1.0" in text
    assert "sandgate_log_segments 1.0" in text
    assert f"sandgate_log_bytes {log.path.stat().st_size}.0" in text
    assert "sandgate_store_up 1.0" in text


async def test_a_store_that_is_away_hides_no_other_metric(tmp_path: Path) -> None:
    fakes, log = FakeWorld(tmp_path / "world"), FakeEgressLog(tmp_path / "log")
    async with AsyncExitStack() as stack:
        watching = made(fakes, log.folder, stack)
        fakes.runs.down = True
        text = (await watching.render()).decode()
    assert "sandgate_store_up 0.0" in text
    assert "sandgate_log_segments 1.0" in text


async def test_traces_are_sent_where_the_settings_say(tmp_path: Path, collector: Collector) -> None:
    fakes, log = FakeWorld(tmp_path / "world"), FakeEgressLog(tmp_path / "log")
    headers = tmp_path / "headers"
    headers.write_text("Authorization: Bearer of-the-collector\n")
    telemetry = Telemetry(
        otlp_url=f"http://127.0.0.1:{collector.port}/v1/traces", headers_file=headers
    )
    async with AsyncExitStack() as stack:
        watching = made(fakes, log.folder, stack, telemetry)
        await watching.following.look()
        log.attempt()
        await watching.following.look()
        for hear in watching.parts.world.hear_ended:
            hear(a_run(outcome=Outcome.SUBMITTED))
    assert sorted(span.name for span in collector.spans) == ["egress GET", "run native"]
    assert collector.headers[0]["authorization"] == "Bearer of-the-collector"


async def test_without_a_url_nothing_of_it_is_there(tmp_path: Path) -> None:
    log = FakeEgressLog(tmp_path / "log")
    async with AsyncExitStack() as stack:
        watching = made(FakeWorld(tmp_path / "world"), log.folder, stack)
        assert len(watching.following.hears) == 1
        assert len(watching.parts.world.hear_ended) == 1


async def test_headers_that_are_none_are_said(tmp_path: Path) -> None:
    (tmp_path / "headers").write_text("no header\n")
    telemetry = Telemetry(otlp_url="http://127.0.0.1:1/", headers_file=tmp_path / "headers")
    async with AsyncExitStack() as stack:
        with pytest.raises(Malformed, match="line 1 is no `Name: value`"):
            made(FakeWorld(tmp_path / "world"), tmp_path, stack, telemetry)
