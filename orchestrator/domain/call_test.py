"""A standing rule for tool calls, tried on what was recorded before it is made [pure]."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from entrance.mcp.constraints import misfit
from orchestrator.domain.access import BackTest, RecordedCall, Tally
from orchestrator.domain.approval import Approval, ApprovalState
from orchestrator.domain.calls import WantedCall
from orchestrator.domain.kinds import CALL, TOOL
from orchestrator.domain.opened import WantedTool


def back_test(
    one: WantedCall, bounds: str, calls: Iterable[RecordedCall], items: Sequence[Approval]
) -> BackTest:
    """What the rule would have let through of the calls that were held.

    The log has arguments without secrets, and not the longest; where an item of the inbox has the same
    call, its own are taken.
    """
    of_tool = [item for item in items if item.kind == CALL and _is_of(one, item.wanted)]
    exact = {item.wanted["sha256"]: item.wanted["arguments"] for item in of_tool}
    exact[one.sha256] = one.arguments
    denied = {i.wanted["sha256"] for i in of_tool if i.state is ApprovalState.DENIED}
    tally = Tally()
    for call in calls:
        if not call.held or (call.connection, call.tool) != (one.connection, one.tool):
            continue
        arguments = exact.get(call.sha256, call.arguments)
        if arguments is None:
            tally.untold += 1
        elif not misfit(bounds, arguments):
            tally.lets(f"{one.connection}/{one.tool}", call.run, denied=call.sha256 in denied)
    return tally.result


def opened_test(
    one: WantedTool, calls: Iterable[RecordedCall], items: Sequence[Approval]
) -> BackTest:
    """What would not have been refused, or held, if the tool had been open.

    A person has denied of it what they denied when they were asked for the tool, or for such a call.
    """
    denied = [item for item in items if item.state is ApprovalState.DENIED]
    of_tool = [item for item in denied if item.kind in {TOOL, CALL} and _is_of(one, item.wanted)]
    runs = {item.run for item in of_tool}
    tally = Tally()
    for call in calls:
        if (call.connection, call.tool) == (one.connection, one.tool):
            tally.lets(f"{one.connection}/{one.tool}", call.run, denied=call.run in runs)
    return tally.result


def _is_of(one: WantedCall | WantedTool, wanted: Mapping[str, Any]) -> bool:
    return (wanted.get("connection"), wanted.get("tool")) == (one.connection, one.tool)
