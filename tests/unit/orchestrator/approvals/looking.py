"""What is looked at, and done, around an inbox in these tests."""

from dataclasses import replace

from orchestrator.domain.approval import Approval
from orchestrator.domain.run import Outcome, Run, RunState
from tests.fakes.approvals import Inbox
from tests.fakes.world import TASK


def now(inbox: Inbox, item: str) -> Approval:
    """The item as it is stored."""
    return inbox.store.items[item]


def said(inbox: Inbox) -> str:
    """All comments of the task."""
    return "\n".join(one.text for one in inbox.fakes.tracker.comments[TASK.id])


async def end(inbox: Inbox, run: Run, outcome: Outcome) -> None:
    """The run has ended so."""
    ended = replace(run, state=RunState.ENDED, outcome=outcome, version=run.version + 1)
    await inbox.fakes.runs.replace(ended)
