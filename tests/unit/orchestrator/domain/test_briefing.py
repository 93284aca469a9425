"""What an agent is told."""

from dataclasses import replace

from orchestrator.domain.briefing import brief
from orchestrator.domain.run import Trigger
from orchestrator.domain.task import Comment
from tests.fakes.clock import START
from tests.fakes.world import AGENT, ENGAGEMENT, REPOSITORY, TASK

COMMENT = Comment("1", "lead", "Please", "use tabs", START)


def test_the_briefing_names_what_the_agent_needs() -> None:
    told = brief(
        agent=AGENT, engagement=ENGAGEMENT, task=TASK, thread=[COMMENT],
        memories=["tests are slow"], trigger=Trigger.SENT_BACK,
    )  # fmt: skip
    assert "agent/DEMO-7/" in told.system
    assert "Be kind." in told.system
    assert "- tests are slow" in told.system
    for wanted in (
        "Item: DEMO-7",
        REPOSITORY,
        "/workspace/thing",
        "It is broken.",
        "use tabs",
        "sent back",
    ):
        assert wanted in told.prompt


def test_a_task_without_repository_says_nothing_about_one() -> None:
    told = brief(
        agent=AGENT, engagement=ENGAGEMENT, task=replace(TASK, repository=""), thread=[],
        memories=[], trigger=Trigger.ASSIGNED,
    )  # fmt: skip
    assert "Repository" not in told.prompt
