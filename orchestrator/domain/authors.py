"""Whose an agent's commits are, and where they say that they come from [pure]."""

from collections.abc import Collection

from entrance.session import Authorship, RunId
from orchestrator.domain.run import Run
from orchestrator.domain.team import Agent

_CRUD = "".join(map(chr, range(33))) + ".,:;<>\"\\'"
"""What git takes off both ends of a name."""
HOOKS = "/usr/local/libexec/sandgate/hooks"
"""Where the sandbox image has the hook that adds trailers."""


def authorship_of(agent: Agent, run: Run, before: Collection[RunId] = ()) -> Authorship:
    """Whose commits `run` may push. `before`: the task's other runs."""
    name = as_git_writes(agent.title) or as_git_writes(agent.bot)
    mail = as_git_writes(f"{agent.bot}@agents.sandgate.invalid")
    return Authorship(name, mail, run.model, frozenset({run.id, *before}))


def as_git_writes(text: str) -> str:
    """A name or an address as it stands in a commit."""
    return text.translate(dict.fromkeys(map(ord, "\n<>"))).strip(_CRUD)


def environment_of(authorship: Authorship, run: Run) -> dict[str, str]:
    """What makes git write the agent as author and committer, and our hook the trailers."""
    return {
        "GIT_AUTHOR_NAME": authorship.name,
        "GIT_AUTHOR_EMAIL": authorship.mail,
        "GIT_COMMITTER_NAME": authorship.name,
        "GIT_COMMITTER_EMAIL": authorship.mail,
        # A repository that names hooks of its own, as husky does, would leave ours out; ours run them.
        "GIT_CONFIG_PARAMETERS": f"'core.hooksPath={HOOKS}'",
        "SANDGATE_RUN": run.id,
        "SANDGATE_TASK": run.task,
        "SANDGATE_MODEL": run.model,
    }
