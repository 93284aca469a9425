"""The four tools that end a run: the handover is noted first, then done in Polarion.

When Polarion refuses it, it is taken back, and the agent is told why. Once noted and not refused it
counts: what an outage or a crash leaves undone is made up for when the run is settled.
"""

from collections.abc import Mapping
from dataclasses import replace

import structlog

from entrance.errors import SandgateError, Unavailable
from entrance.ports import ToolResult
from orchestrator.adapters.polarion.call import Call
from orchestrator.adapters.polarion.resources import NewItem, Text, WorkItem
from orchestrator.domain.handover import (
    ACTIONS,
    assignee_after,
    part_of,
    title_of,
    work_in_words,
)
from orchestrator.domain.run import Ending, Outcome, Tried, Work
from orchestrator.domain.team import Engagement

log = structlog.get_logger()


async def submit_for_approval(call: Call) -> ToolResult:
    """What is held of it isn't done yet: its reviewer is told so, and the agent, too."""
    work = Work(
        words=call.text("summary"),
        branch=call.text("branch", ""),
        tests=tuple(_test(one) for one in call.arguments.get("tests", ())),
        not_verified=call.text("not_verified", ""),
    )
    held = await call.office.held.told(call.session.task) if call.office.held else []
    text = "\n\n".join([work_in_words(work), *held])
    ending = Ending(Outcome.SUBMITTED, text, call.office.now(), work=work)
    done = await _hand_over(call, ending)
    return replace(done, text=" ".join([done.text, *held]))


async def ask_questions(call: Call) -> ToolResult:
    """The task goes to the supervisor, who answers."""
    questions = call.texts("questions")
    text = "\n".join(f"{number}. {question}" for number, question in enumerate(questions, 1))
    engagement = await _engagement(call)
    asked = Ending(
        Outcome.ASKED,
        text,
        call.office.now(),
        given=call.session.task,
        to=engagement.supervisor,
    )
    return await _hand_over(call, asked)


async def wait_for_decision(call: Call) -> ToolResult:
    """The task goes to the supervisor, who decides; where nothing waits, nobody would ever wake it."""
    items = call.office.open_items
    waiting = await items.waiting(call.session.run) if items else []
    if not waiting:
        raise ValueError("nothing of yours waits for a decision: go on, or end the run otherwise")
    summary, engagement = call.text("summary"), await _engagement(call)
    rows = [f"- {item.id}: {item.title}" for item in waiting]
    text = "\n".join([summary, "", "Waits for a decision:", *rows])
    held = Ending(
        Outcome.HELD, text, call.office.now(), given=call.session.task, to=engagement.supervisor
    )
    return await _hand_over(call, held)


async def delegate(call: Call) -> ToolResult:
    """The part becomes a task of its own, and is given to the other agent with the handover."""
    bot = await _colleague(call)
    await call.office.desk.may_hand_over(call.session.run)
    part = await _part(call)
    text = f"Delegated to {bot} as {part}: {call.text('title')}"
    delegated = Ending(Outcome.DELEGATED, text, call.office.now(), given=part, to=bot)
    return await _hand_over(call, delegated)


def _test(told: Mapping[str, str]) -> Tried:
    return Tried(told["command"], told["result"], told.get("detail", ""))


async def _hand_over(call: Call, ending: Ending) -> ToolResult:
    session, desk = call.session, call.office.desk
    await desk.hand_over(session.run, ending)
    touched = tuple(filter(None, (session.task, part_of(ending, session.task))))
    over = f"{ending.outcome}. This run is over now; stop."
    try:
        await _move(call, ending)
    except Unavailable as error:
        log.warning("handover_not_shown_yet", run=session.run, error=str(error))
        return ToolResult(f"{over} Polarion will show it as soon as it can.", touched=touched)
    except SandgateError:
        await desk.take_back(session.run)
        raise
    try:
        await _tell(call, ending)
    except SandgateError as error:
        log.warning("handover_not_shown_yet", run=session.run, error=str(error))
    return ToolResult(over, touched=touched)


async def _move(call: Call, ending: Ending) -> None:
    """The one change that Polarion may refuse. Only after it anything is said or given."""
    task = call.session.task
    to = assignee_after(ending, task)
    await call.client.items.update(
        task, assignees=[to] if to else None, workflow_action=ACTIONS[ending.outcome]
    )


async def _tell(call: Call, ending: Ending) -> None:
    session, client = call.session, call.client
    title = title_of(session.run, ending.outcome)
    await client.comments.add(session.task, Text(ending.summary), title=title)
    if part := part_of(ending, session.task):
        await client.items.update(part, assignees=[ending.to])


async def _colleague(call: Call) -> str:
    """The bot user of the named agent. Raises: ValueError, with the agents that there are."""
    session, wanted = call.session, call.text("agent").removeprefix("bot-")
    hired = {
        one.bot.removeprefix("bot-"): one.bot
        for one in await call.office.engagements()
        if (one.project, one.bot) != (session.project, session.agent)
        and one.project == session.project
    }
    if wanted not in hired:
        others = ", ".join(sorted(hired)) or "none"
        raise ValueError(f"{wanted} is not hired here, or is you; others hired are: {others}")
    return hired[wanted]


async def _part(call: Call) -> str:
    """The delegated part: a task like ours, linked to it, of nobody yet."""
    session, client = call.session, call.client
    record = await call.office.desk.record_of(session.run)
    title, description = call.text("title"), Text(call.text("description"))
    known = await call.made_already("task", title)
    fields = _fields_of_part(call, await client.items.get(session.task))
    if known:
        part = known.id
        await client.items.update(part, description=description, custom=fields)
    else:
        new = NewItem("task", title, description=description, custom=fields)
        part = await client.items.create(session.project, new)
    await call.link(part, "delegated_from", session.task)
    await call.link(part, "produced_by", record)
    return part


def _fields_of_part(call: Call, parent: WorkItem) -> dict[str, object]:
    return {
        "repository": call.text("repository", str(parent.custom.get("repository") or "")),
        "baseBranch": str(parent.custom.get("baseBranch") or "main"),
        "aiGenerated": True,
        "runKey": call.session.run,
    }


async def _engagement(call: Call) -> Engagement:
    session = call.session
    for one in await call.office.engagements():
        if (one.project, one.bot) == (session.project, session.agent):
            return one
    raise ValueError("your engagement has ended; nobody can be asked")
