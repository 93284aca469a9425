"""`sandgate egress ls`: the newest attempts, and what went to which host."""

from collections.abc import Mapping, Sequence
from datetime import UTC
from typing import Annotated, Any

import duckdb
import orjson
import typer
from rich.console import Console

from orchestrator.cli.egress.options import (
    AgentOption,
    ConnectionOption,
    DecisionOption,
    DoorOption,
    HostOption,
    LogOption,
    RunOption,
    SinceOption,
    TaskOption,
    ToolOption,
    UntilOption,
    log_folder,
    progress,
    wanted,
)
from orchestrator.cli.egress.page import amount, what
from orchestrator.cli.place import JsonFlag
from orchestrator.cli.screen import print_json, print_table, say
from orchestrator.egress.columns import COLUMNS as COLUMNS_OF_LOG
from orchestrator.egress.database import attempts
from orchestrator.egress.filters import Filter

console = Console()

Row = Mapping[str, Any]
COLUMNS = ("time (UTC)", "decision", "door", "what", "status", "sent", "got", "ms", "run", "why")
SPARE = ("ms", "door", "sent", "status")
TOTALS = ("host", "attempts", "allowed", "held", "denied", "sent", "got")
NOWHERE = "(no host)"
_TOTALS = """
    SELECT coalesce(host, '') AS host, count(*) AS attempts,
        count(*) FILTER (decision = 'allow') AS allowed,
        count(*) FILTER (decision = 'hold') AS held,
        count(*) FILTER (decision = 'deny') AS denied,
        coalesce(sum(bytes_out), 0)::BIGINT AS bytes_out,
        coalesce(sum(bytes_in), 0)::BIGINT AS bytes_in
    FROM attempts WHERE {} GROUP BY 1 ORDER BY bytes_out DESC, attempts DESC, host LIMIT ?
"""


def ls(
    run: RunOption = None,
    task: TaskOption = None,
    agent: AgentOption = None,
    host: HostOption = None,
    connection: ConnectionOption = None,
    tool: ToolOption = None,
    door: DoorOption = None,
    decision: DecisionOption = None,
    since: SinceOption = "",
    until: UntilOption = "",
    limit: Annotated[int, typer.Option(min=0, help="So many of the newest; 0: only totals.")] = 50,
    hosts: Annotated[int, typer.Option(min=0, help="Totals of so many hosts.")] = 20,
    log: LogOption = None,
    json: JsonFlag = False,
) -> None:
    """List attempts, newest last, and total them by host: most bytes sent first."""
    asked = wanted(
        run=run,
        task=task,
        agent=agent,
        host=host,
        connection=connection,
        tool=tool,
        door=door,
        decision=decision,
        since=since,
        until=until,
    )
    folder = log_folder(log)
    with (
        progress("reading the log") as told,
        attempts(folder, since=asked.since, told=told) as log_of,
    ):
        newest, totals = _newest(log_of, asked, limit), _totals(log_of, asked, hosts)
    if json:
        print_json({"attempts": newest, "totals": totals})
        return
    _show(newest, totals)


def _newest(connection: duckdb.DuckDBPyConnection, asked: Filter, limit: int) -> Sequence[Row]:
    condition, values = asked.where()
    found = connection.execute(
        f"FROM attempts WHERE {condition} ORDER BY seq DESC LIMIT ?", [*values, limit]
    ).fetchall()
    return [_read(row) for row in reversed(found)]


def _read(row: Sequence[Any]) -> Row:
    """A row by its columns' names, as JSON is to have it."""
    return {one.name: _cell(cell, one.type) for one, cell in zip(COLUMNS_OF_LOG, row, strict=True)}


def _cell(cell: Any, kind: str) -> Any:
    if cell is None:
        return None
    if kind == "JSON":
        return orjson.loads(cell)
    return cell.replace(tzinfo=UTC) if kind == "TIMESTAMP" else cell


def _totals(connection: duckdb.DuckDBPyConnection, asked: Filter, hosts: int) -> Sequence[Row]:
    condition, values = asked.where()
    cursor = connection.execute(_TOTALS.format(condition), [*values, hosts])
    names = [one[0] for one in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _show(newest: Sequence[Row], totals: Sequence[Row]) -> None:
    if not totals and not newest:
        say(console, "nothing of that kind is in the log")
        return
    if newest:
        print_table(console, COLUMNS, [_row(one) for one in newest], spare=SPARE)
        say(console, "")
    print_table(console, TOTALS, [_total(one) for one in totals])


def _row(one: Row) -> Sequence[object]:
    why = one["reason"] or one["rule"]
    return (
        str(one["decided_at"])[:19],
        one["decision"],
        one["door"],
        what(one),
        one["status"] or one["result"],
        amount(one["bytes_out"]),
        amount(one["bytes_in"]),
        None if one["ms"] is None else round(one["ms"]),
        one["run"],
        why,
    )


def _total(one: Row) -> Sequence[object]:
    counts = (one[name] for name in ("attempts", "allowed", "held", "denied"))
    return (one["host"] or NOWHERE, *counts, amount(one["bytes_out"]), amount(one["bytes_in"]))
