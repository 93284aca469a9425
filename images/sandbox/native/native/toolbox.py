"""All tools by name, and the order in which the calls of one answer run."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from native import files, schema, search, shell
from native.conversation import Call
from native.events import Emit
from native.mcp import Gateway
from native.output import Outcome, Spill, ToolError

PREFIX = "mcp__sandgate__"
_AT_ONCE = 6


@dataclass(frozen=True)
class Tool:
    """One tool. `changes_nothing` lets it run beside others; `own` inputs are checked here."""

    name: str
    description: str
    schema: Mapping[str, Any]
    call: Callable[[dict[str, Any]], Outcome]
    changes_nothing: bool = False
    own: bool = True


def own_tools(workdir: Path, runs: shell.Shell, spill: Spill) -> list[Tool]:
    """The loop's own tools for a working directory."""
    reads = files.Files(workdir)
    finds = search.Search(workdir, runs, spill, ripgrep=search.ripgrep())
    return [
        Tool("bash", shell.DESCRIPTION, shell.SCHEMA, runs.bash),
        Tool("read", files.READ, files.READ_SCHEMA, reads.read, changes_nothing=True),
        Tool("write", files.WRITE, files.WRITE_SCHEMA, reads.write),
        Tool("edit", files.EDIT, files.EDIT_SCHEMA, reads.edit),
        Tool("glob", search.GLOB, search.GLOB_SCHEMA, finds.glob, changes_nothing=True),
        Tool("grep", search.GREP, search.GREP_SCHEMA, finds.grep, changes_nothing=True),
    ]


def gateway_tools(gateway: Gateway, listed: Sequence[Mapping[str, Any]]) -> list[Tool]:
    """The gateway's tools, under the names that the model sees."""
    return [
        Tool(
            name=f"{PREFIX}{tool['name']}",
            description=tool.get("description") or "",
            schema=tool["inputSchema"],
            call=partial(gateway.call, tool["name"]),
            changes_nothing=(tool.get("annotations") or {}).get("readOnlyHint") is True,
            own=False,
        )
        for tool in listed
    ]


class Toolbox:
    """Runs calls.

    A gateway tool that was not listed is called all the same: it is the gateway that says no, and records it.
    """

    def __init__(self, tools: Sequence[Tool], gateway: Gateway, emit: Emit) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._gateway = gateway
        self._emit = emit

    @property
    def tools(self) -> list[Tool]:
        """Every tool, as the model is told of it."""
        return list(self._tools.values())

    def run(
        self, calls: Sequence[Call], *, until: Callable[[Call, Outcome], bool]
    ) -> Iterator[Outcome]:
        """Run calls and give their outcomes in order; after one for which `until` holds, no more run.

        Raises:
            Trouble: the entrance stayed away.
        """
        tools = [self._tool(call.name) for call in calls]
        over = False
        for batch in batches([tool.changes_nothing for tool in tools]):
            if over:
                yield from (Outcome("Not run: the run has ended.", is_error=True) for _ in batch)
                continue
            for index, outcome in zip(batch, self._together(batch, tools, calls), strict=True):
                over = over or until(calls[index], outcome)
                yield outcome

    def _together(
        self, batch: Sequence[int], tools: Sequence[Tool], calls: Sequence[Call]
    ) -> Sequence[Outcome]:
        if len(batch) == 1:
            return [self._one(tools[batch[0]], calls[batch[0]])]
        pool = ThreadPoolExecutor(_AT_ONCE)
        try:
            return list(pool.map(lambda index: self._one(tools[index], calls[index]), batch))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _one(self, tool: Tool, call: Call) -> Outcome:
        started = time.monotonic()
        outcome = _outcome(tool, call.input)
        self._emit(
            "tool_result",
            id=call.id,
            name=call.name,
            is_error=outcome.is_error,
            text=outcome.text,
            duration_ms=round((time.monotonic() - started) * 1000),
        )
        return outcome

    def _tool(self, name: str) -> Tool:
        if name in self._tools:
            return self._tools[name]
        if name.startswith(PREFIX):
            return Tool(
                name, "", {}, partial(self._gateway.call, name.removeprefix(PREFIX)), own=False
            )
        there = ", ".join(self._tools)
        return Tool(
            name,
            "",
            {},
            lambda _: Outcome(f"No tool {name!r}: there are {there}", is_error=True),
            own=False,
        )


def _outcome(tool: Tool, given: Any) -> Outcome:
    """Run a tool; what it can't do is an answer too."""
    if not isinstance(given, dict):
        return Outcome(f"{tool.name}: the input must be a JSON object", is_error=True)
    if tool.own and (wrong := schema.fault(tool.schema, given)):
        return Outcome(f"{tool.name}: {wrong}", is_error=True)
    try:
        return tool.call(given)
    except ToolError as error:
        return Outcome(str(error), is_error=True)
    except (OSError, RecursionError, MemoryError) as error:
        return Outcome(f"{tool.name}: {type(error).__name__}: {error}", is_error=True)


def batches(changes_nothing: Sequence[bool]) -> Iterator[list[int]]:
    """Indexes of calls that may run at once: neighbours that change nothing; others alone, in place."""
    batch: list[int] = []
    for index, harmless in enumerate(changes_nothing):
        if harmless:
            batch.append(index)
            continue
        if batch:
            yield batch
        yield [index]
        batch = []
    if batch:
        yield batch
