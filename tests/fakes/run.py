"""Runs to test with."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from itertools import count
from typing import Any

from entrance.session import RunId, TaskId
from orchestrator.domain.run import Run, Trigger
from tests.fakes.clock import START

_numbers = count(100)  # none of the tasks that the fakes have of their own


def a_run(**changes: Any) -> Run:
    """A fresh run of a task and an agent of its own; each is a minute newer than the one before."""
    number = next(_numbers)
    at = START + timedelta(minutes=number)
    run = Run(
        id=RunId(f"run{number:012d}"),
        task=TaskId(f"DEMO/DEMO-{number}"),
        project="DEMO",
        agent=f"bot-{number}",
        engagement="DEMO/DEMO-E1",
        trigger=Trigger.ASSIGNED,
        harness="native",
        model="anthropic:claude-test",
        created_at=at,
        deadline_at=at + timedelta(hours=1),
        budget_usd=Decimal("1.50"),
    )
    return replace(run, **changes)
