"""What an agent is told: its instructions (system) and the task (prompt) [pure].

Text that people or agents wrote is set off in tags and named as data: it may ask for things, but
only the instructions say what the agent may do.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from orchestrator.domain.grants import folder_of
from orchestrator.domain.run import Trigger
from orchestrator.domain.task import Comment, Task
from orchestrator.domain.team import Agent, Engagement

RULES = """\
You work alone in a sandbox. It holds no secret and reaches one door only: the model, your tools \
and the granted repositories. {network}
When something is refused, the reason is in the answer: act on it, don't try to get around it.
Push your work only to branches below `agent/{item}/` of the repository you were given. \
Everything else is refused.
Run the tests before you submit. Commit small, with messages that say why; \
a hook adds the trailers that say which run made them.
End every run by exactly one of these tools: `submit_for_approval` when the work is done and pushed, \
`ask_questions` when you can't go on without a person, `wait_for_decision` when what was held for \
approval must be decided first, `delegate` when another agent has to do a part.
A run that ends in no other way counts as failed."""

CLOSED = "There is no other network."
OPEN = (
    "Of the internet, only what is listed below is open, through the proxy that the environment names: "
    "most programs find it by themselves. For anything else use `request_access`; a person decides."
)

TRIGGERS = {
    Trigger.ASSIGNED: "The task was assigned to you.",
    Trigger.SENT_BACK: "Your earlier work was sent back; the newest comments say what to change.",
    Trigger.ANSWERED: "Your questions were answered; the answers are in the newest comments.",
    Trigger.SUBTASK_DONE: "What you delegated is over; the newest comments say how each part ended.",
    Trigger.HOLD_DECIDED: (
        "What was held was decided, or a person answered before that; the newest comments say which, "
        "and what came of it."
    ),
}


FOLLOW_UPS = {
    **TRIGGERS,
    Trigger.ASSIGNED: (
        "Your earlier run of this task ended before you handed over. "
        "Look at what is there, and go on."
    ),
}
"""The same, for a run that goes on with the conversation of an earlier one."""

THREAD_KEPT = 50
"""So many of a task's newest comments are put into the prompt; the agent can list the others."""
LONGEST_TEXT = 50_000
"""Characters of one description or comment; more is cut."""
LONGEST_TITLE = 500
"""Characters of a title, which is one line: it isn't set off, so it mustn't pass for other lines."""


@dataclass(frozen=True, slots=True)
class Briefing:
    """The texts that a harness is started with.

    `follow_up` stands for `prompt` when it goes on with the conversation of an earlier run: what
    is new since then.
    """

    system: str
    prompt: str
    follow_up: str = ""


def brief(
    *,
    agent: Agent,
    engagement: Engagement,
    task: Task,
    thread: Sequence[Comment],
    memories: Sequence[str],
    trigger: Trigger,
    since: datetime | None = None,
    internet: Sequence[str] | None = None,
) -> Briefing:
    """Build the briefing of one run; `since` is when the run began whose conversation goes on.

    `internet` are the lines that say what of it is open; None where nothing can be.
    """
    return Briefing(
        system=_system(agent, engagement, task, memories, internet),
        prompt=_prompt(task, thread, trigger),
        follow_up=_follow_up(agent, task, thread, trigger, since) if since else "",
    )


def _system(
    agent: Agent,
    engagement: Engagement,
    task: Task,
    memories: Sequence[str],
    internet: Sequence[str] | None,
) -> str:
    parts = [
        (
            f"You are {agent.title}, a coding agent hired into the project {engagement.project}. "
            f"Your supervisor is {engagement.supervisor}."
        ),
        RULES.format(item=task.item, network=CLOSED if internet is None else OPEN),
        agent.instructions,
    ]
    parts += [f"# Skill: {skill.title}\n{skill.text}" for skill in agent.skills]
    if internet is not None:
        open_now = [f"- {line}" for line in internet] or ["Nothing yet."]
        parts.append("\n".join(["# What of the internet is open", *open_now]))
    if memories:
        parts.append(
            "# What you learned here before\n" + "\n".join(f"- {text}" for text in memories)
        )
    return "\n\n".join(part.strip() for part in parts if part.strip())


def _follow_up(
    agent: Agent, task: Task, thread: Sequence[Comment], trigger: Trigger, since: datetime
) -> str:
    """Everything else is in the conversation already; the agent's own comments are, too."""
    news = [one for one in thread if one.created >= since and one.author != agent.bot]
    lines = [FOLLOW_UPS[trigger], "", f"Task: {task.id}", f"Item: {task.item}"]
    return "\n".join([*lines, *_comments(news)]) + "\n"


def _prompt(task: Task, thread: Sequence[Comment], trigger: Trigger) -> str:
    lines = [
        TRIGGERS[trigger],
        "",
        f"Task: {task.id}",
        f"Item: {task.item}",
        f"Title: {' '.join(task.title.split())[:LONGEST_TITLE]}",
    ]
    if task.repository:
        lines += [
            f"Repository: {task.repository}",
            f"Working copy: /workspace/{folder_of(task.repository)}",
            f"Base branch: {task.base_branch}",
            f"Your branches: agent/{task.item}/<name>",
            *(f"You may go on with: agent/{one}/<name>" for one in sorted(task.continues)),
        ]
    lines += ["", fenced("description", task.description.strip() or "(none)")]
    return "\n".join([*lines, *_comments(thread)]) + "\n"


def _comments(thread: Sequence[Comment]) -> list[str]:
    lines: list[str] = []
    left_out = len(thread) - THREAD_KEPT
    if left_out > 0:
        lines += ["", f"({left_out} older comments are left out; list_comments has them.)"]
    for comment in thread[-THREAD_KEPT:]:
        about = f'by="{_attribute(comment.author)}" title="{_attribute(comment.title)}"'
        lines += ["", fenced("comment", comment.text, about)]
    return lines


def fenced(tag: str, text: str, about: str = "") -> str:
    """Text between tags that it can't close itself: a number is put to the tag when it holds it."""
    kept = text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + "\n(cut here)"
    number = 0
    name = tag
    while f"</{name}" in kept:
        number += 1
        name = f"{tag}-{number}"
    opening = f"{name} {about}".strip()
    return f"<{opening}>\n{kept}\n</{name}>"


def _attribute(text: str) -> str:
    return " ".join(text.replace('"', "'").replace("<", "(").split())[:200]
