"""A process that decides about a held call and sends it: `python -m tests.component.calls.releaser PLAN`.

Everything that it changes lies in files. It may be told to kill itself, as by `kill -9`, just before or
just after the n-th change of the world.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from entrance.mcp.released import Released
from entrance.ports import Tool, ToolResult
from entrance.session import Session
from orchestrator.approvals.call_rules import CallRules
from orchestrator.approvals.call_sending import CallSending
from orchestrator.approvals.calls import CallHandling, HeldCalls
from orchestrator.approvals.deciding import Deciding
from orchestrator.approvals.handling import Decision
from orchestrator.approvals.items import Items
from orchestrator.approvals.releasing import Releasing
from orchestrator.approvals.settling import Settling
from orchestrator.approvals.waking import Waking
from orchestrator.domain.approval import ApprovalState, Verb
from orchestrator.domain.kinds import CALL
from orchestrator.domain.run import Outcome, RunState
from tests.component.pushes.releaser import (
    BETWEEN_LOOKS_S,
    LOOKS,
    RUN,
    Board,
    Deadly,
    Files,
    Plan,
    Wakes,
    is_over,
    serve,
)
from tests.fakes.approvals import FakeRecord
from tests.fakes.calls import WRITE, a_call, engagement
from tests.fakes.clock import START, FakeClock
from tests.fakes.run import a_run
from tests.fakes.runs import FakeRuns
from tests.fakes.world import AGENT, ENGAGEMENT, TASK
from tests.servers.log import open_log


@dataclass
class Wiki:
    """A server whose tool writes a line of a file, each time that it is called."""

    file: Path

    connection = "wiki"

    async def tools(self, session: Session) -> Sequence[Tool]:
        return [WRITE]

    async def call(self, session: Session, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        with self.file.open("a") as file:
            file.write(f"{tool} {arguments['page']}\n")
        return ToolResult("written")


async def act(plan: Plan) -> None:
    """Decide about it if nobody has, and look until nothing is left to do."""
    folder, clock = plan.folder, FakeClock()
    started = folder / "started"
    clock.advance(3600.0 * len(started.read_text()) if started.exists() else 0)
    with started.open("a") as file:
        file.write("x")
    who = {"id": RUN, "task": TASK.id, "project": "DEMO", "agent": AGENT.bot}
    run = a_run(**who, engagement=ENGAGEMENT.id, state=RunState.ENDED, outcome=Outcome.HELD)
    runs = FakeRuns()
    await runs.create(run)
    tracker = Board(folder, tasks=[TASK], agents=[AGENT], engagements=[engagement()])
    store, wakes, wiki = Files(folder / "inbox.json"), Wakes(folder), Wiki(folder / "wiki")
    log = open_log(folder / "log", now=clock.now)
    if not store.items:
        await HeldCalls(Items(store, runs, tracker, clock)).ask(replace(a_call(run), decision=1))
    deadly = Deadly(plan)
    for holder, names in (
        (store, ("create", "replace")),
        (log, ("decided", "came_of_it")),
        (wiki, ("call",)),
        (tracker, ("comment",)),
        (wakes, ("wake",)),
    ):
        for name in names:
            deadly.wrap(holder, name)
    rules = CallRules(store, clock)
    sending = CallSending(
        caller=Released({"wiki": wiki}),
        store=store,
        rules=rules,
        runs=runs,
        tracker=tracker,
        audit=log,
    )
    waking = Waking(store, runs, wakes.wake)
    settling = Settling(store, tracker, waking, {CALL: sending})
    releasing = Releasing(store, clock, log, {CALL: sending}, settling)
    handlings = {CALL: CallHandling(releasing, patience_s=0)}
    deciding = Deciding(store, runs, tracker, clock, FakeRecord(), handlings, waking)
    for item in list(store.items.values()):
        if item.state is ApprovalState.WAITING:
            until = START.replace(year=START.year + 1) if plan.verb == "rule" else None
            await deciding.decide(item.id, Decision(Verb(plan.verb), "lead", until=until))
    for _ in range(LOOKS):
        await releasing.look()
        clock.advance(BETWEEN_LOOKS_S)
    await log.close()
    assert all(is_over(item) for item in store.items.values()), store.items


if __name__ == "__main__":
    serve(act)
