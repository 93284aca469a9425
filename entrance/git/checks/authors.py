"""Rules about whose the commits are, and what they say of where they come from [pure]."""

import re
from collections.abc import Iterator, Mapping

from entrance.git.checks.facts import Brought, Commit, Person
from entrance.git.checks.finding import Found
from entrance.session import Authorship, Session

TRAILERS = ("Agent-Run", "Agent-Task", "Agent-Model")
_TRAILER = re.compile(
    r"^(agent-run|agent-task|agent-model)[ \t]*:(.*)$", re.IGNORECASE | re.MULTILINE
)


def unattributed(brought: Brought, session: Session) -> Iterator[Found]:
    """Commits of a run of which nobody knows whose they ought to be."""
    if session.authorship is None:
        yield from (Found(commit=commit.oid) for commit in brought.commits)


def foreign_authors(brought: Brought, session: Session) -> Iterator[Found]:
    """Commits that say to be written by somebody else."""
    for commit in brought.commits:
        if session.authorship and not _is(commit.author, session.authorship):
            yield Found(what="another author", commit=commit.oid)


def foreign_committers(brought: Brought, session: Session) -> Iterator[Found]:
    """Commits that say to be made by somebody else."""
    for commit in brought.commits:
        if session.authorship and not _is(commit.committer, session.authorship):
            yield Found(what="another committer", commit=commit.oid)


def wrong_trailers(brought: Brought, session: Session) -> Iterator[Found]:
    """Commits that don't say which run made them, or say another."""
    if session.authorship is None:
        return
    for commit in brought.commits:
        if what := _wrong(commit, session, session.authorship):
            yield Found(what=what, commit=commit.oid)


def is_foreign(commit: Commit, session: Session) -> bool:
    """Whether anything of a commit is not the run's own."""
    whose = session.authorship
    return whose is not None and (
        not _is(commit.author, whose)
        or not _is(commit.committer, whose)
        or bool(_wrong(commit, session, whose))
    )


def _is(person: Person, authorship: Authorship) -> bool:
    return (person.name, person.mail) == (authorship.name, authorship.mail)


def _wrong(commit: Commit, session: Session, authorship: Authorship) -> str:
    """What is wrong with a commit's trailers; empty when nothing is."""
    last = commit.message.rstrip().rpartition("\n\n")[2]
    said = _said(last)
    missing = [name for name in TRAILERS if not said.get(name.lower())]
    if missing:
        return f"no {' and no '.join(missing)}"
    everywhere = _said(commit.message)
    if any(len(values) > 1 for values in everywhere.values()):
        return "two values for one trailer, perhaps in the text"
    (run,), (task,), (model,) = (said[name.lower()] for name in TRAILERS)
    if run not in authorship.runs:
        return "the Agent-Run of another task"
    if task != session.task:
        return "another Agent-Task"
    # What an earlier run of the task was done with isn't known here; only that it wasn't this one.
    if run == session.run and model != authorship.model:
        return "another Agent-Model"
    return ""


def _said(text: str) -> Mapping[str, frozenset[str]]:
    said: dict[str, set[str]] = {}
    for name, value in _TRAILER.findall(text):
        if value.strip():
            said.setdefault(name.lower(), set()).add(value.strip())
    return {name: frozenset(values) for name, values in said.items()}
