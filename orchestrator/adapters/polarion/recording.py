"""A run as its agentRun work item says it [pure]."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import orjson

from orchestrator.adapters.polarion.resources import NewItem, Text
from orchestrator.domain.run import Run, phases
from orchestrator.ports import RunRecord

FIELD_BYTES = 400_000
"""Of each JSON field, as it travels: Polarion takes 2 MiB a request, and there are four of them."""


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
        "evidence": _json(_evidence(run)),
        "startedAt": run.created_at,
        **({"endedAt": ended} if (ended := run.since.get("settling")) else {}),
        # Only if there is one: a Polarion that was set up before has no such field.
        **({"pullRequest": made.url} if (made := run.pull_request) and made.url else {}),
    }


def _evidence(run: Run) -> Mapping[str, Any]:
    """What the verdict rests on, and what became of the pull request."""
    made = run.pull_request
    return run.evidence if made is None else {**run.evidence, "pull_request": asdict(made)}


def _json(data: Any) -> Text:
    """JSON that fits into its field. Too long a one is kept as a text in JSON that says so."""
    whole = orjson.dumps(data, option=orjson.OPT_INDENT_2, default=str).decode()
    kept = _start_of(whole, FIELD_BYTES)
    if kept == whole:
        return Text(whole)
    cut = {
        "cut": "This was too long to be kept here; the attached transcript has all of it.",
        "whole_chars": len(whole),
        "start": _start_of(whole, FIELD_BYTES // 2),
    }
    return Text(orjson.dumps(cut, option=orjson.OPT_INDENT_2).decode())


def _start_of(text: str, size_bytes: int) -> str:
    """As much of the text as takes at most so many bytes inside JSON."""
    while (length := len(orjson.dumps(text))) > size_bytes:
        text = text[: min(len(text) * size_bytes // length, len(text) - 1)]
    return text
