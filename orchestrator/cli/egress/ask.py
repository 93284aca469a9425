"""`sandgate egress query`: anybody's SQL over the log."""

import csv
import sys
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.console import Console

from orchestrator.cli.codes import Code, CommandFailed
from orchestrator.cli.egress.options import LogOption, log_folder, progress
from orchestrator.cli.place import JsonFlag
from orchestrator.cli.screen import plain, print_json, print_table, readable, say
from orchestrator.egress.query import Limits, query
from orchestrator.egress.statement import QueryRefused

console = Console()


class Form(StrEnum):
    """How an answer is written."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


def ask(
    sql: Annotated[
        str,
        typer.Argument(
            metavar="SQL", help="A SELECT of the table `attempts`; - reads it from stdin."
        ),
    ],
    form: Annotated[Form, typer.Option("--format", help="How the answer is written.")] = Form.TABLE,
    rows: Annotated[int, typer.Option(min=1, help="At most so many rows.")] = 1000,
    seconds: Annotated[float, typer.Option(min=0.1, help="At most so long.")] = 60,
    log: LogOption = None,
    json: JsonFlag = False,
) -> None:
    """Ask the log in SQL (DuckDB's). `DESCRIBE attempts` lists its columns; times are UTC."""
    folder = log_folder(log)
    text = sys.stdin.read() if sql == "-" else sql
    try:
        with (
            progress("reading the log") as told,
            query(folder, text, limits=Limits(rows=rows, seconds=seconds), told=told) as answer,
        ):
            columns, found = answer.columns, list(answer.rows())
            cut = answer.cut
    except QueryRefused as error:
        raise CommandFailed(f"the query was not answered: {error}", Code.REFUSED) from error
    _show(columns, found, Form.JSON if json else form)
    if cut:
        sentence = f"there are more than these {rows} rows: --rows, or LIMIT and OFFSET"
        say(Console(stderr=True), sentence, "yellow")


def _show(columns: Sequence[str], found: Sequence[Sequence[Any]], form: Form) -> None:
    match form:
        case Form.TABLE:
            print_table(console, [plain(name) for name in columns], found)
        case Form.JSON:
            print_json([dict(zip(columns, row, strict=True)) for row in found])
        case Form.CSV:
            writer = csv.writer(sys.stdout, lineterminator="\n")
            writer.writerow(plain(name) for name in columns)
            writer.writerows([plain(readable(cell)) for cell in row] for row in found)
