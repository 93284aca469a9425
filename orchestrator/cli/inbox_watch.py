"""`sandgate approvals watch`: the inbox as it changes, in a live table, or a line a change."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.table import Table

from orchestrator.cli.screen import fitting_table, one_line, print_json, say
from orchestrator.domain.approval import OPEN

COLUMNS = ("id", "state", "agent", "wants", "why", "task", "asked", "decided")
SPARE = ("asked", "decided", "task", "agent", "why")
LATEST = 10
"""So many of those that are decided are shown below those that wait."""

Item = Mapping[str, Any]


@dataclass
class Seen:
    """What a watcher has heard of the inbox."""

    waiting: dict[str, Item] = field(default_factory=dict)
    over: deque[Item] = field(default_factory=lambda: deque(maxlen=LATEST))

    def hear(self, kind: str, data: Item) -> None:
        """One event more."""
        if kind == "reset":
            self.waiting.clear()
        if kind != "item":
            return
        self.waiting.pop(data["id"], None)
        kept = [one for one in self.over if one["id"] != data["id"]]
        self.over = deque(kept, maxlen=LATEST)
        if data["state"] in OPEN:
            self.waiting[data["id"]] = data
        else:
            self.over.append(data)

    @property
    def rows(self) -> list[Sequence[object]]:
        """What waits, oldest first; then what was decided meanwhile, newest first."""
        waiting = sorted(self.waiting.values(), key=lambda one: str(one["asked_at"]))
        return [row(one) for one in (*waiting, *reversed(self.over))]


def row(one: Item) -> Sequence[object]:
    """An item in a row."""
    why = one["why"] or "; ".join(one["wanted"].get("reasons", ()))
    decided = f"{one['decided_by']} {(one['decided_at'] or '')[11:19]}".strip()
    whose = (one["id"], one["state"], one["agent"])
    return *whose, one["title"], one_line(why), one["task"], one["asked_at"][:19], decided


def follow(console: Console, events: Iterable[tuple[str, Item]], *, json: bool) -> None:
    """Show the events as they come, to their end."""
    if json or not console.is_terminal:
        _by_line(console, events, json=json)
        return
    seen = Seen()
    with Live(_table(console, seen), console=console, auto_refresh=False) as live:
        for kind, data in events:
            seen.hear(kind, data)
            live.update(_table(console, seen), refresh=True)


def _by_line(console: Console, events: Iterable[tuple[str, Item]], *, json: bool) -> None:
    for kind, data in events:
        if kind != "item":
            continue
        if json:
            print_json(data, lines=True)
        else:
            cells = (one_line(cell) for cell in row(data))
            say(console, "  ".join(cell for cell in cells if cell))


def _table(console: Console, seen: Seen) -> Table:
    table = fitting_table(console, COLUMNS, seen.rows, spare=SPARE)
    table.caption = f"{len(seen.waiting)} wait; Ctrl-C ends the watching"
    return table
