"""Which repositories a run may fetch, and which it may push to, then and still [pure]."""

import re

from entrance.decision import Deny
from entrance.session import Ended, RepoGrant, Session

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


def still_open(now: Session | Ended | None, then: Session, grant: RepoGrant) -> Deny | None:
    """Why a push that came in the session `then` may not go on, by what its token opens `now`.

    A push can take an hour to come; what a run may do is not what it might when that began.
    """
    if not isinstance(now, Session) or (now.run, now.address) != (then.run, then.address):
        return Deny("this run was over before its push was here and judged; nothing was pushed")
    granted = decide_access(now, grant.name, push=True)
    if isinstance(granted, Deny):
        return granted
    if granted != grant or _judged_by(now) != _judged_by(then):
        return Deny("what this run may push was changed while its push came in; push again")
    return None


def _judged_by(session: Session) -> tuple[object, ...]:
    return session.task, session.authorship, session.continues, session.push_policy


def printable(name: str) -> str:
    """A name from the wire as it may stand in a sentence: one line, at most 200 characters."""
    return _CONTROL.sub("?", name)[:200]
