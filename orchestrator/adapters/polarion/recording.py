"""A run as its agentRun work item says it [pure]."""

from typing import Any

import orjson

from orchestrator.adapters.polarion.resources import NewItem, Text
from orchestrator.domain.run import phases
from orchestrator.ports import RunRecord

LONGEST_TEXT = 1_000_000
"""Polarion takes 2 MiB a request; the whole of it is in the attached transcript."""


def item_of(record: RunRecord) -> NewItem:
    """The work item of a run that has none yet."""
    return NewItem(type="agentRun", title=record.title, custom=fields_of(record))


def fields_of(record: RunRecord) -> dict[str, Any]:
    """The fields of a run's work item. Absolute values: writing them twice changes nothing."""
    run, used = record.run, record.run.usage
    return {
        "runKey": run.id,
        "aiGenerated": True,
        "model": run.model,
        "harness": run.harness,
        "trigger": str(run.trigger),
        "outcome": str(run.outcome or ""),
        "cause": str(run.cause or ""),
        "inputTokens": used.input_tokens,
        "outputTokens": used.output_tokens,
        "cacheReadTokens": used.cache_read_tokens,
        "cacheWriteTokens": used.cache_write_tokens,
        "cost": float(used.cost_usd),
        "ledger": _json(record.ledger),
        "gatewayCalls": _json(record.gateway_calls),
        "sandboxFacts": _json({**run.facts, "seconds": phases(run)}),
        "evidence": _json(run.evidence),
        "startedAt": run.created_at,
        **({"endedAt": ended} if (ended := run.since.get("settling")) else {}),
    }


def _json(data: Any) -> Text:
    text = orjson.dumps(data, option=orjson.OPT_INDENT_2, default=str).decode()
    if len(text) > LONGEST_TEXT:
        text = text[:LONGEST_TEXT] + "\n... cut here; the transcript has all of it"
    return Text(text)
