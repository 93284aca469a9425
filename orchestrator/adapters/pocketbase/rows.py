"""What our rows look like, to and from the domain's types; strict, but newer fields don't hurt [pure].

Times are text in UTC with microseconds (PocketBase's own dates have milliseconds), amounts of
money are decimal text (its numbers are binary floats).
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError

from entrance.errors import Malformed
from entrance.ports import Usage
from entrance.session import RunId
from orchestrator.domain.run import Run
from orchestrator.ports import Event

Row = Mapping[str, Any]

EVENT_BYTES = 128 * 1024
"""An event's data is at most this long as JSON. Whole outputs are in the transcript's file."""
_CUTS = (16 * 1024, 2 * 1024, 256, 32)

_RUN: TypeAdapter[Run] = TypeAdapter(Run)
_EVENTS: TypeAdapter[list[Event]] = TypeAdapter(list[Event])
_USAGES: TypeAdapter[list[Usage]] = TypeAdapter(list[Usage])


def stored_time(at: datetime) -> str:
    """An aware time as our rows have it: `2026-01-31T12:00:00.000000Z`; sorts as it should."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def run_row(run: Run) -> dict[str, Any]:
    """A run as a row: all of it in `body`, and beside it the columns that are asked for."""
    return {
        "id": run.id,
        "task": run.task,
        "agent": run.agent,
        "engagement": run.engagement,
        "state": str(run.state),
        "version": run.version,
        "created": stored_time(run.created_at),
        "body": _RUN.dump_python(run, mode="json"),
    }


def run_of(row: Row) -> Run:
    """The run in a row. Fields that we don't know (a newer version's) are left out.

    Raises: Malformed.
    """
    return _read(_RUN, row.get("body"), f"run {row.get('id')}")


def event_row(run: RunId, event: Event) -> dict[str, Any]:
    """An event as a row; data that is too long is cut."""
    return {
        "run": run,
        "seq": event.seq,
        "at": stored_time(event.at),
        "kind": event.kind,
        "data": bounded(event.data),
    }


def events_of(rows: Sequence[Row]) -> list[Event]:
    """The events in rows. Raises: Malformed."""
    return _read(_EVENTS, rows, "events")


def usage_row(
    id_: str, run: RunId, engagement: str, usage: Usage, lender: str = ""
) -> dict[str, Any]:
    """One model call's usage as a row. `lender`: the run whose envelope pays it too."""
    return {
        "id": id_,
        "run": run,
        "engagement": engagement,
        "lender": lender,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "cost_usd": f"{usage.cost_usd:f}",
        "calls": usage.calls,
    }


def usage_of(rows: Sequence[Row]) -> Usage:
    """What rows add up to. Raises: Malformed."""
    calls: list[Usage] = _read(_USAGES, rows, "usage")
    return sum(calls, start=Usage())


def cost_of(rows: Iterable[Row]) -> Decimal:
    """What rows cost, in US dollars. Raises: Malformed."""
    return usage_of([{"cost_usd": row.get("cost_usd")} for row in rows]).cost_usd


def bounded(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """`data` as JSON can carry it, at most `EVENT_BYTES` long.

    Half characters become `?`. When it is too long, its texts are cut, and `cut_from_bytes` says
    how long it was.
    """
    try:
        size = len(orjson.dumps(data, default=str))
    except TypeError:  # a lone surrogate
        data = _texts(data, limit=None)
        size = len(orjson.dumps(data, default=str))
    if size <= EVENT_BYTES:
        return data
    for limit in _CUTS:
        cut = {**_texts(data, limit=limit), "cut_from_bytes": size}
        if len(orjson.dumps(cut, default=str)) <= EVENT_BYTES:
            return cut
    return {"cut_from_bytes": size}


def _texts(value: Any, *, limit: int | None) -> Any:
    """`value` with every text in it made valid and cut to `limit` characters."""
    match value:
        case str():
            return value[:limit].encode("utf-8", "replace").decode()
        case Mapping():
            return {
                _texts(str(key), limit=limit): _texts(item, limit=limit)
                for key, item in value.items()
            }
        case list() | tuple():
            return [_texts(item, limit=limit) for item in value]
        case _:
            return value


def _read[T](adapter: TypeAdapter[T], value: Any, what: str) -> T:
    """Parse by JSON's rules: strict, yet times and decimals are text."""
    try:
        return adapter.validate_json(orjson.dumps(value), strict=True)
    except ValidationError as error:
        places = ", ".join(".".join(map(str, each["loc"])) for each in error.errors()[:3])
        raise Malformed(f"PocketBase's {what} can't be read: {places}") from error
