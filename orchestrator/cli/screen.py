"""How things look in a terminal. What agents and people wrote is data: control bytes never pass."""

import re
from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from typing import Any

import orjson
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

_UNSEEN = (
    "\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f"
)
"""Marks that nobody sees: they turn text around, join and break lines, or hide words."""
_CONTROL = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f{_UNSEEN}]")
_CONTROL_IN_JSON = re.compile(f"[\x7f-\x9f{_UNSEEN}]")
LONGEST_LINE = 160
LONGEST_CELL = 2000
WIDEST = 10_000
"""Wider than any row; a table is only as wide as it must be."""

STYLES = {
    "submitted": "green",
    "asked": "cyan",
    "delegated": "cyan",
    "held": "magenta",
    "failed": "red",
    "stopped": "yellow",
    "running": "blue",
}


def plain(value: object) -> str:
    """A value as text that a terminal can show without harm (escapes, overrides, bells are gone)."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", str(value))


def one_line(value: object, longest: int = LONGEST_LINE) -> str:
    """`plain`, on one line, shortened."""
    text = " ".join(plain(value).split())
    return text if len(text) <= longest else text[: longest - 1] + "…"


def print_json(data: object, *, lines: bool = False) -> None:
    """Print JSON for programs; with `lines` one value a line, for those that read a stream."""
    indent = 0 if lines else orjson.OPT_INDENT_2
    text = orjson.dumps(data, option=indent, default=str).decode()
    print(escaped(text), flush=lines)  # noqa: T201 - stdout is the interface


def escaped(json: str) -> str:
    """The same JSON; what a terminal would obey is written as an escape."""
    return _CONTROL_IN_JSON.sub(_as_escape, json)


def _as_escape(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def say(console: Console, text: object, style: str = "") -> None:
    """Print text as it stands, but for what a terminal would obey: no markup, no wrapping."""
    console.print(Text(plain(text), style=style), soft_wrap=True)


def tell(console: Console, made: object, *sentences: str, json: bool) -> None:
    """Print what a command has made: as JSON, or in sentences."""
    if json:
        print_json(made)
        return
    for sentence in sentences:
        say(console, sentence)


def tell_each(
    console: Console,
    found: Sequence[Mapping[str, Any]],
    columns: Sequence[str],
    row: Callable[[Mapping[str, Any]], Sequence[object]],
    *,
    spare: Sequence[str] = (),
    json: bool,
) -> None:
    """Print what a command has found: as JSON, or a row of a table for each."""
    if json:
        print_json(found)
        return
    print_table(console, columns, [row(one) for one in found], spare=spare)


def size(size_bytes: int) -> str:
    """A size as people read it."""
    mib = size_bytes / (1 << 20)
    return f"{mib:.1f} MiB" if mib < 1000 else f"{mib / 1024:.1f} GiB"  # noqa: PLR2004


def print_table(
    console: Console,
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    spare: Sequence[str] = (),
) -> None:
    """Print rows under columns; a word with a style of its own gets it.

    No cell is cut: a run's id is there to be copied. On a terminal that is too narrow the `spare`
    columns are left out, as many as must be, in their order. In a file or a pipe a row is one line.
    """
    if not console.is_terminal:
        wide = Console(file=StringIO(), width=WIDEST)
        with wide.capture() as shown:
            wide.print(_table(columns, rows, set()))
        console.file.writelines(f"{line.rstrip()}\n" for line in shown.get().splitlines())
        return
    console.print(fitting_table(console, columns, rows, spare=spare))


def fitting_table(
    console: Console,
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    spare: Sequence[str] = (),
) -> Table:
    """Rows under columns, without those of the `spare` columns that the terminal is too narrow for."""
    left_out: set[str] = set()
    table = _table(columns, rows, left_out)
    for column in spare:
        if (
            Measurement.get(console, console.options.update(width=WIDEST), table).maximum
            <= console.width
        ):
            break
        left_out.add(column)
        table = _table(columns, rows, left_out)
    return table


def _table(columns: Sequence[str], rows: Sequence[Sequence[object]], left_out: set[str]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    kept = [number for number, column in enumerate(columns) if column not in left_out]
    for number in kept:
        table.add_column(columns[number], overflow="fold")
    for row in rows:
        table.add_row(*(styled(row[number]) for number in kept))
    return table


def styled(cell: object) -> Text:
    """A cell's text, in its word's style."""
    text = one_line(readable(cell), LONGEST_CELL)
    return Text(text, style=STYLES.get(text, ""))


def readable(value: object) -> str:
    """A value as people write it: `a 1, b (c 2)` for an object, nothing for none."""
    match value:
        case None:
            return ""
        case Mapping():
            return ", ".join(f"{key} {_inner(inner)}" for key, inner in value.items())
        case list() | tuple():
            return ", ".join(_inner(inner) for inner in value)
        case _:
            return str(value)


def _inner(value: object) -> str:
    text = readable(value)
    return f"({text})" if isinstance(value, Mapping | list | tuple) else text or "-"


def event_line(event: Mapping[str, Any]) -> Text | None:
    """One line for one event of a run; None when it isn't worth one."""
    data, kind = event["data"], event["kind"]
    show = _EVENTS.get(kind)
    if show is None:
        return None
    mark, style, text = show(data)
    return Text.assemble((f"{event['at'][11:19]} ", "dim"), (f"{mark} ", style), one_line(text))


def _tool_call(data: Mapping[str, Any]) -> tuple[str, str, str]:
    arguments = data.get("input", {})
    return "→", "blue", f"{data.get('name', '')} {orjson.dumps(arguments, default=str).decode()}"


def _tool_result(data: Mapping[str, Any]) -> tuple[str, str, str]:
    failed = bool(data.get("is_error"))
    return ("✗", "red", data.get("text", "")) if failed else ("✓", "green", data.get("text", ""))


_EVENTS: dict[str, Callable[[Mapping[str, Any]], tuple[str, str, str]]] = {
    "phase": lambda d: ("●", "bold magenta", " ".join(f"{value}" for value in d.values())),
    "text": lambda d: ("│", "dim", d.get("text", "")),
    "tool_call": _tool_call,
    "tool_result": _tool_result,
    "retry": lambda d: (
        "↻",
        "yellow",
        f"{d.get('reason', '')}" + (f" (again in {d['delay_s']} s)" if "delay_s" in d else ""),
    ),
    "ended": lambda d: ("■", "bold", f"{d.get('reason', '')} {d.get('detail') or ''}"),
    "raw": lambda d: ("·", "dim", d.get("text", "")),
}
