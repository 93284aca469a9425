"""A run as its work item says it."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entrance.ports import Usage
from orchestrator.adapters.polarion.items import BATCH_BYTES
from orchestrator.adapters.polarion.recording import FIELD_BYTES, fields_of, item_of
from orchestrator.adapters.polarion.resources import Text, encoded
from orchestrator.domain.run import Cause, Outcome, PullRequest, RunState
from orchestrator.ports import RunRecord
from polarion_app.config import load
from tests.fakes.clock import START
from tests.fakes.run import a_run

JSON_FIELDS = ("ledger", "gatewayCalls", "sandboxFacts", "evidence")


def record(**changes: Any) -> RunRecord:
    return RunRecord(a_run(**changes), "Run", "DEMO/E", {"read": ["DEMO/DEMO-1"]}, [{"seq": 1}])


def body_of(fields: dict[str, Any]) -> bytes:
    return orjson.dumps({name: encoded(value) for name, value in fields.items()})


def test_every_field_is_one_of_the_data_model() -> None:
    """A real Polarion would store any other silently, and show it nowhere."""
    assert fields_of(record()).keys() <= load().fields_of("agentRun").keys()
    assert item_of(record()).type == "agentRun"


def test_a_run_that_has_ended_is_recorded_whole() -> None:
    run = record(
        outcome=Outcome.FAILED,
        cause=Cause.OOM,
        usage=Usage(1, 2, 3, 4, Decimal("0.125"), 5),
        since={str(RunState.QUEUED): START, str(RunState.SETTLING): START + timedelta(seconds=9)},
        facts={"image": "sandgate/x:1"},
        evidence={"host": {"oom_kills": 1}},
    )
    fields = fields_of(run)
    assert (fields["outcome"], fields["cause"], fields["trigger"]) == ("failed", "oom", "assigned")
    assert (fields["inputTokens"], fields["cacheWriteTokens"], fields["cost"]) == (1, 4, 0.125)
    assert fields["endedAt"] == START + timedelta(seconds=9)
    read = {name: orjson.loads(fields[name].value) for name in JSON_FIELDS}
    assert read == {
        "ledger": {"read": ["DEMO/DEMO-1"]},
        "gatewayCalls": [{"seq": 1}],
        "sandboxFacts": {"image": "sandgate/x:1", "seconds": {"queued": 9.0}},
        "evidence": {"host": {"oom_kills": 1}},
    }


def test_where_the_work_is_proposed_is_recorded_or_why_it_is_not() -> None:
    url = "https://git.example/team/thing/pull/5"
    made = fields_of(record(pull_request=PullRequest("agent/x/y", 5, url)))
    assert made["pullRequest"] == url
    assert made.keys() <= load().fields_of("agentRun").keys()
    none = fields_of(record(pull_request=PullRequest("agent/x/y", none="plain", failed=True)))
    assert "pullRequest" not in none
    told = orjson.loads(none["evidence"].value)["pull_request"]
    assert (told["none"], told["failed"]) == ("plain", True)
    assert "pullRequest" not in fields_of(record())


def test_a_run_that_goes_on_has_no_outcome_yet() -> None:
    fields = fields_of(record())
    assert (fields["outcome"], fields["cause"]) == ("", "")
    assert "endedAt" not in fields


@pytest.mark.parametrize("character", ["a", '"', "\\", "\n", "ü", "\N{SNAKE}", "\x00"])
def test_json_that_is_too_long_is_cut_and_stays_json(character: str) -> None:
    """All four fields at their worst go into one request."""
    much = {"much": character * 1_000_000}
    fields = fields_of(
        replace(record(evidence=much, facts=much), ledger=much, gateway_calls=[much])
    )
    for name in JSON_FIELDS:
        cut = orjson.loads(fields[name].value)
        assert cut["whole_chars"] > 1_000_000
        assert cut["start"].endswith(character) or character not in "aü\N{SNAKE}"
        assert "transcript" in cut["cut"]
    assert len(body_of(fields)) < BATCH_BYTES


@settings(max_examples=25)
@given(st.text(min_size=1, max_size=20), st.integers(1, 200_000))
def test_json_of_any_length_stays_json(text: str, times: int) -> None:
    fields = fields_of(record(evidence={"text": text * times}))
    assert isinstance(fields["evidence"], Text)
    read = orjson.loads(fields["evidence"].value)
    assert read.keys() in ({"text"}, {"cut", "whole_chars", "start"})
    assert len(orjson.dumps(fields["evidence"].value)) <= FIELD_BYTES + 1_000
