"""What may follow what with an item of the inbox, a table for each way to treat one [pure]."""

from collections.abc import Mapping

from orchestrator.domain.approval import ApprovalState, Verb

type After = Mapping[tuple[ApprovalState, Verb], ApprovalState]
"""What may follow what; whatever isn't here can't be done."""

_DECIDED: After = {
    (ApprovalState.WAITING, Verb.DENY): ApprovalState.DENIED,
    (ApprovalState.WAITING, Verb.EXPIRE): ApprovalState.EXPIRED,
}
OPENED: After = {
    **_DECIDED,
    (ApprovalState.WAITING, Verb.ONCE): ApprovalState.ALLOWED_ONCE,
    (ApprovalState.WAITING, Verb.RUN): ApprovalState.ALLOWED_RUN,
    (ApprovalState.WAITING, Verb.RULE): ApprovalState.STANDING,
    (ApprovalState.ALLOWED_ONCE, Verb.EXPIRE): ApprovalState.EXPIRED,
    (ApprovalState.ALLOWED_RUN, Verb.EXPIRE): ApprovalState.EXPIRED,
    (ApprovalState.STANDING, Verb.EXPIRE): ApprovalState.EXPIRED,
    (ApprovalState.STANDING, Verb.REVOKE): ApprovalState.REVOKED,
    (ApprovalState.ALLOWED_ONCE, Verb.REVOKE): ApprovalState.REVOKED,
    (ApprovalState.ALLOWED_RUN, Verb.REVOKE): ApprovalState.REVOKED,
}
"""Of what the agent does itself, once it is opened."""
TOOL_OPENED: After = {
    step: to for step, to in OPENED.items() if ApprovalState.ALLOWED_ONCE not in {step[0], to}
}
"""The same of what is never opened for one time only: each call of a tool can be held for that."""
SENT_ONCE: After = {
    **_DECIDED,
    (ApprovalState.WAITING, Verb.ONCE): ApprovalState.ALLOWED,
    (ApprovalState.ALLOWED, Verb.REVOKE): ApprovalState.REVOKED,
    (ApprovalState.ALLOWED, Verb.CLAIM): ApprovalState.RELEASING,
    (ApprovalState.RELEASING, Verb.CLAIM): ApprovalState.RELEASING,
    (ApprovalState.UNKNOWN, Verb.CLAIM): ApprovalState.RELEASING,
    (ApprovalState.RELEASING, Verb.LOSE): ApprovalState.UNKNOWN,
    **{
        (state, verb): to
        for state in (ApprovalState.ALLOWED, ApprovalState.RELEASING, ApprovalState.UNKNOWN)
        for verb, to in (
            (Verb.ARRIVE, ApprovalState.RELEASED),
            (Verb.DIVERGE, ApprovalState.CONFLICT),
            (Verb.FAIL, ApprovalState.FAILED),
        )
    },
}
"""Of what is kept, and sent for the agent: the very bytes, once. It is claimed before it is sent."""

CALLED_ONCE: After = {
    **_DECIDED,
    (ApprovalState.WAITING, Verb.ONCE): ApprovalState.ALLOWED,
    (ApprovalState.WAITING, Verb.RULE): ApprovalState.ALLOWED,
    (ApprovalState.ALLOWED, Verb.REVOKE): ApprovalState.REVOKED,
    (ApprovalState.ALLOWED, Verb.CLAIM): ApprovalState.RELEASING,
    (ApprovalState.ALLOWED, Verb.FAIL): ApprovalState.FAILED,
    (ApprovalState.RELEASING, Verb.ARRIVE): ApprovalState.RELEASED,
    (ApprovalState.RELEASING, Verb.FAIL): ApprovalState.FAILED,
    (ApprovalState.RELEASING, Verb.DIVERGE): ApprovalState.UNANSWERED,
}
"""Of what is sent for the agent to a place that can't be asked whether it has arrived: claimed, it is never
sent again.
"""

REVOCABLE: After = {
    (ApprovalState.STANDING, Verb.REVOKE): ApprovalState.REVOKED,
    (ApprovalState.STANDING, Verb.EXPIRE): ApprovalState.EXPIRED,
}
"""Of what people have made themselves."""
ACCEPTED: After = {
    **_DECIDED,
    (ApprovalState.WAITING, Verb.ONCE): ApprovalState.STANDING,
    (ApprovalState.DENIED, Verb.ONCE): ApprovalState.STANDING,
    (ApprovalState.STANDING, Verb.REVOKE): ApprovalState.REVOKED,
}
"""Of what is looked at once, and counts for everybody; who denied it may still accept it."""
