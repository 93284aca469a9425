"""Traces reach a real collector of OTLP over HTTP: a span for a run, and one for each attempt in it."""

import hashlib
from datetime import timedelta
from decimal import Decimal
from typing import Any

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

from entrance.ports import Usage
from orchestrator.domain.run import Cause, Outcome, Run
from orchestrator.telemetry.traces import Traces
from tests.component.telemetry.collector import Collector
from tests.fakes.egress_log import ATTEMPT, CAME
from tests.fakes.run import a_run


def traces(collector: Collector) -> Traces:
    exporter = OTLPSpanExporter(
        endpoint=f"http://127.0.0.1:{collector.port}/v1/traces", headers={"x-of": "the-tests"}
    )
    return Traces(exporter, "sg", "0.1.0")


def attributes(span: Any) -> dict[str, Any]:
    return {
        one.key: getattr(one.value, str(one.value.WhichOneof("value"))) for one in span.attributes
    }


def ended(run: Run) -> Run:
    return a_run(
        id=run.id,
        created_at=run.created_at,
        outcome=Outcome.FAILED,
        cause=Cause.BUDGET,
        usage=Usage(cost_usd=Decimal("1.25")),
        since={
            "running": run.created_at + timedelta(seconds=2),
            "ended": run.created_at + timedelta(seconds=90),
        },
    )


def test_a_run_is_a_span_with_its_attempts_below_it(collector: Collector) -> None:
    made, run = traces(collector), a_run()
    whose = {**ATTEMPT, "run": run.id}
    made.hear({"seq": 1, "at": "2026-11-30T12:00:01+00:00", "type": "opened"})
    made.hear({"seq": 2, "at": "2026-11-30T12:00:02+00:00", "type": "decided", **whose})
    denied = {**whose, "decision": "deny", "reason": "no rule"}
    made.hear({"seq": 3, "at": "2026-11-30T12:00:03+00:00", "type": "decided", **denied})
    made.hear({"seq": 4, "at": "2026-11-30T12:00:02.5+00:00", "type": "outcome", "of": 2, **CAME})
    made.hear({"seq": 5, "at": "2026-11-30T12:00:04+00:00", "type": "decided", **whose})
    made.hear({"seq": 6, "at": "2026-11-30T12:00:04+00:00", "type": "decided", "decision": "deny"})
    made.ended(ended(run))
    made.close()
    by_name = {(span.name, attributes(span).get("sandgate.seq")): span for span in collector.spans}
    assert len(by_name) == 4
    whole, came, refused = (
        by_name["run native", None],
        by_name["egress GET", 2],
        by_name["egress GET", 3],
    )
    expected = hashlib.sha256(f"sg/{run.id}".encode()).digest()
    assert (whole.trace_id, whole.span_id) == (expected[:16], expected[16:24])
    assert {span.trace_id for span in collector.spans} == {whole.trace_id}
    assert {came.parent_span_id, refused.parent_span_id} == {whole.span_id}
    assert whole.parent_span_id == b""
    assert whole.end_time_unix_nano - whole.start_time_unix_nano == 90 * 10**9
    assert [event.name for event in whole.events] == ["running", "ended"]
    assert attributes(whole)["sandgate.cause"] == "budget"
    assert attributes(whole)["sandgate.cost_usd"] == 1.25
    assert came.end_time_unix_nano - came.start_time_unix_nano == 5 * 10**8
    assert attributes(came)["http.response.status_code"] == 200
    assert attributes(came)["url.full"] == "https://files.example/a"
    assert attributes(came)["sandgate.run"] == run.id
    assert (refused.status.code, refused.status.message) == (2, "no rule")
    assert attributes(by_name["egress GET", 5]).get("sandgate.result") is None
    assert collector.resources[0]["service.instance.id"] == "sg"
    assert collector.headers[0]["x-of"] == "the-tests"


def test_the_same_run_has_the_same_trace_after_a_restart(collector: Collector) -> None:
    run = a_run()
    for _ in range(2):
        made = traces(collector)
        line = {**ATTEMPT, "run": run.id, "decision": "deny"}
        made.hear({"seq": 2, "at": "2026-11-30T12:00:02+00:00", "type": "decided", **line})
        made.close()
    one, two = collector.spans
    assert (one.trace_id, one.parent_span_id) == (two.trace_id, two.parent_span_id)
    assert one.span_id != two.span_id


def test_lines_that_make_no_sense_make_no_span(collector: Collector) -> None:
    made = traces(collector)
    made.hear({"type": "decided", "run": "r", "decision": "deny", "at": "yesterday", "seq": 1})
    made.hear({"type": "outcome", "of": [1]})
    made.hear({"type": "unreadable"})
    made.close()
    assert collector.spans == []
