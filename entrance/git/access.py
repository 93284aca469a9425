"""Which repositories a run may fetch, and which it may push to [pure]."""

import re

from entrance.decision import Deny
from entrance.session import RepoGrant, Session

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def decide_access(session: Session, name: str, *, push: bool) -> RepoGrant | Deny:
    """The grant that opens the repository at `/git/<name>`, or why there is none."""
    grant = session.repository(name)
    if grant is None:
        granted = ", ".join(sorted(grant.name for grant in session.repositories)) or "none"
        return Deny(
            f"repository {printable(name)} is not granted to this run; granted are: {granted}"
        )
    if push and not grant.push:
        return Deny(f"repository {grant.name} is granted to this run for fetching, not for pushing")
    return grant


def printable(name: str) -> str:
    """A name from the wire as it may stand in a sentence: one line, at most 200 characters."""
    return _CONTROL.sub("?", name)[:200]
