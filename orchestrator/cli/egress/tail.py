"""`sandgate egress tail`: attempts as they come."""

import time
from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from orchestrator.cli.egress.options import (
    AgentOption,
    ConnectionOption,
    DecisionOption,
    DoorOption,
    HostOption,
    LogOption,
    RunOption,
    TaskOption,
    ToolOption,
    log_folder,
    wanted,
)
from orchestrator.cli.egress.page import decided_line, outcome_line, own_line
from orchestrator.cli.place import JsonFlag
from orchestrator.cli.screen import print_json
from orchestrator.egress.filters import Filter
from orchestrator.egress.reader import Line, Reader, near_the_end

console = Console()

LOOK_BACK_BYTES = 4 << 20
POLL_S = 0.2
REMEMBERED = 10_000
"""So many shown decisions may still get their outcome shown."""


def tail(
    run: RunOption = None,
    task: TaskOption = None,
    agent: AgentOption = None,
    host: HostOption = None,
    connection: ConnectionOption = None,
    tool: ToolOption = None,
    door: DoorOption = None,
    decision: DecisionOption = None,
    lines: Annotated[int, typer.Option("--lines", "-n", min=0, help="So many to begin with.")] = 10,
    follow: Annotated[bool, typer.Option(help="Go on with what comes, until Ctrl-C.")] = True,
    log: LogOption = None,
    json: JsonFlag = False,
) -> None:
    """Show attempts as they are decided, and what comes of them. With --json, the log's own lines."""
    asked = wanted(
        run=run,
        task=task,
        agent=agent,
        host=host,
        connection=connection,
        tool=tool,
        door=door,
        decision=decision,
    )
    folder = log_folder(log)
    reader, picked = Reader(folder, near_the_end(folder, LOOK_BACK_BYTES)), _Picked(asked)
    for line in _first(reader, picked, lines):
        _show(line, json=json)
    while follow:
        for line in picked.of(reader):
            _show(line, json=json)
        time.sleep(POLL_S)


class _Picked:
    """Picks the lines that are wanted: decisions that fit, and what came of them."""

    def __init__(self, asked: Filter) -> None:
        self._asked = asked
        self._shown: OrderedDict[int, None] = OrderedDict()

    def of(self, reader: Reader) -> Iterator[Line]:
        """Those of all lines that there are by now."""
        while found := reader.read():
            yield from (line for line in found if self._fits(line.seq, line.fields))

    def _fits(self, seq: int, line: Mapping[str, Any]) -> bool:
        match line.get("type"):
            case "decided" if self._asked.fits(line):
                self._shown[seq] = None
                if len(self._shown) > REMEMBERED:
                    self._shown.popitem(last=False)
                return True
            case "decided":
                return False
            case "outcome":
                return line.get("of") in self._shown
            case _:
                return self._asked == Filter()


def _first(reader: Reader, picked: _Picked, count: int) -> Iterator[Line]:
    """The last decisions of what is there, with all that comes after the first of them."""
    found = list(picked.of(reader))
    decided = deque((at for at, one in enumerate(found) if one.fields["type"] == "decided"), count)
    yield from found[decided[0] :] if decided else ()


def _show(line: Line, *, json: bool) -> None:
    if json:
        print_json(line.fields, lines=True)
        return
    # Wrapping is the terminal's business; a file's lines stay whole.
    console.print(_text(line.fields), soft_wrap=True)


def _text(line: Mapping[str, Any]) -> Text:
    match line.get("type"):
        case "decided":
            return decided_line(line)
        case "outcome":
            return outcome_line(line)
        case _:
            return own_line(line)
