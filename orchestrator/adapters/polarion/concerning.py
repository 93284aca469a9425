"""What a call of a Polarion tool is about, and whether it changes what a person wrote last."""

from collections.abc import Callable, Mapping
from typing import Any

from entrance.errors import Forbidden, NotFound
from entrance.session import Session
from entrance.tool_policy import About, Facts
from orchestrator.adapters.polarion.client import PolarionClient
from orchestrator.domain.supervision import AGENTS

CHANGES = frozenset({"update_work_item"})
"""Tools that change what is there. Comments and new items are added to it, and change nothing."""


async def facts(
    client_for: Callable[[str], PolarionClient],
    session: Session,
    tool: str,
    arguments: Mapping[str, Any],
) -> Facts:
    """The arguments are as the agent gave them. Raises: Unavailable."""
    about = about_of(session, arguments)
    item = arguments.get("id")
    if tool not in CHANGES or not isinstance(item, str) or not item:
        return Facts(about)
    whole = item if "/" in item else f"{session.project}/{item}"
    of_people = await _by_a_person(client_for(session.agent), whole)
    return Facts(about, of_people=(whole,) if of_people else ())


def about_of(session: Session, arguments: Mapping[str, Any]) -> About:
    """A short id is of the run's project, and so is whatever names no item."""
    item = arguments.get("id")
    project = item.partition("/")[0] if isinstance(item, str) and "/" in item else session.project
    named = {
        name: arguments[name] for name in ("type", "repository", "query") if arguments.get(name)
    }
    texts = {name: frozenset({str(value)}) for name, value in named.items()}
    nothing: frozenset[str] = frozenset()
    return About(
        projects=frozenset({project}),
        types=texts.get("type", nothing),
        repositories=texts.get("repository", nothing),
        queries=texts.get("query", nothing),
    )


async def _by_a_person(client: PolarionClient, item: str) -> bool:
    """Whether somebody else than an agent wrote it last; so it is, too, when nobody can say who did."""
    try:
        revision = (await client.items.get(item)).revision
        author = await client.items.author_of(revision) if revision else ""
    except (NotFound, Forbidden, ValueError):
        return True
    return not author.startswith(AGENTS)
