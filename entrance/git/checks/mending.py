"""The command that makes commits the run's own, as an agent is told it [pure]."""

import re
from collections.abc import Collection, Sequence

from entrance.git.checks.authors import TRAILERS
from entrance.git.checks.facts import Commit
from entrance.session import Authorship, Session


def mending(session: Session, commits: Sequence[Commit], base: str, wrong: Collection[str]) -> str:
    """What to do about the commits `wrong`; `commits` are the branch's new ones, `base` is below them."""
    if session.authorship is None or not commits:
        return ""
    amend = _amend(session, session.authorship)
    if set(wrong) == {commits[-1].oid}:
        return f"run {amend}"
    if any(len(commit.parents) > 1 for commit in commits):
        return f"in each of them, run {amend}; no rebase for all, it would undo the branch's merge"
    return f"run git rebase {base} --exec '{amend}'"


def _amend(session: Session, whose: Authorship) -> str:
    trailers = zip(TRAILERS, (session.run, session.task, whose.model), strict=True)
    return " ".join(
        (
            *("git", "-c", "trailer.ifexists=replace", "commit", "-q", "--amend", "--no-edit"),
            *("--allow-empty", "--reset-author"),
            *(f"--trailer {_quoted(f'{name}: {value}')}" for name, value in trailers),
        )
    )


def _quoted(text: str) -> str:
    """A word for a shell, itself inside single quotes; letters that could end either are left out."""
    return '"' + re.sub(r"[^\w .,:;@/+<>()\[\]-]", "", text) + '"'
