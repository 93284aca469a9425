"""One push: its head judged first, then all of it received and judged, and only then sent on.

A refusal is told in git's own report, so that git prints the reason; an HTTP error would make it
print "Everything up-to-date".
"""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import structlog
from aiohttp import web

from entrance.decision import Allow, Decision, Deny, Hold
from entrance.errors import SandgateError
from entrance.git.access import still_open
from entrance.git.answer import RESULT, PushAnswer
from entrance.git.body import BodyError, RequestBody
from entrance.git.checks.judging import Judgement, judge
from entrance.git.forward import Forwarder
from entrance.git.holding import Holding
from entrance.git.listing import aliased
from entrance.git.pktline import ProtocolError
from entrance.git.quarantine.incoming import Refused
from entrance.git.quarantine.quarantine import Quarantine
from entrance.git.quarantine.taking import Coming, Taken
from entrance.git.receive_pack import HeadParser, PushHead
from entrance.git.refs import PushVerdict, decide_push, refuse, refuse_all
from entrance.git.relay import Relay, SandboxGoneError, plain
from entrance.git.told import facts_of, updates_of
from entrance.git.upstream import request_headers
from entrance.git.watched import Watched, report
from entrance.honeytokens.watch import TO_THE_SANDBOX, Attempt, Watch
from entrance.log.records import Audit, Decided, Request
from entrance.ports import AcceptedPush, Moved, Sessions
from entrance.session import RepoGrant, Session

log = structlog.get_logger()

_NO_OPTIONS = "push options are not taken, as hosts do more for them than move a branch"
"""GitLab, for one, opens and merges merge requests by them, with the door's own credential."""
_BROKEN = "the door could not do this; nothing is known to have been pushed, fetch to see"


@dataclass(frozen=True, slots=True)
class Push:
    """One push, as it came."""

    request: web.Request
    session: Session
    grant: RepoGrant
    body: RequestBody
    head: PushHead


class Pusher:
    """Takes pushes for granted repositories. `drain_bytes`: what is read of a refused push."""

    def __init__(
        self,
        audit: Audit,
        watch: Watch,
        quarantine: Quarantine,
        forwarder: Forwarder,
        holding: Holding,
        *,
        sessions: Sessions,
        drain_bytes: int,
    ) -> None:
        self._audit = audit
        self._sessions = sessions
        self._watch = watch
        self._quarantine = quarantine
        self._forwarder = forwarder
        self._holding = holding
        self._drain_bytes = drain_bytes

    async def push(
        self, request: web.Request, session: Session, grant: RepoGrant, body: RequestBody
    ) -> web.StreamResponse:
        """Answer a `git-receive-pack` request. Raises: Unavailable when it can't be recorded."""
        try:
            head = await _read_head(body)
            if head.asks_nothing:
                await _expect_end(head, body)
        except (ProtocolError, BodyError) as error:
            status = error.status if isinstance(error, BodyError) else HTTPStatus.BAD_REQUEST
            await self._record(session, grant, Deny(f"not git's protocol: {error}"), {})
            await body.drain(self._drain_bytes)
            return plain(status, f"bad push: {error}")
        watched = Watched(self._watch.traps_of(session))
        if watched.head(head):
            await report(self._watch, session, watched, Attempt("git_push", grant.name))
            return plain(HTTPStatus.FORBIDDEN, TO_THE_SANDBOX)
        if head.asks_nothing:
            return await Relay(request, RESULT).finish()
        push, answer = Push(request, session, grant, body, head), PushAnswer(request, head)
        try:
            return await self._judged(push, answer)
        except SandboxGoneError:
            return answer.relay.cut_off()
        except Exception as error:
            if not answer.relay.started:
                raise
            log.exception("push_failed_after_its_answer_began")
            why = str(error) if isinstance(error, SandgateError) else _BROKEN
            return await answer.refuse(refuse_all(head.updates, why))

    async def _judged(self, push: Push, answer: PushAnswer) -> web.StreamResponse:
        head = push.head
        verdict = _judge_head(head, push.session)
        if not isinstance(verdict.decision, Allow):
            return await self._denied(push, answer, verdict)
        coming = Coming(
            head,
            push.body,
            push.grant,
            tuple((one.name, one.secret) for one in self._watch.canaries_of(push.session)),
            push.session.push_policy.max_pack_bytes,
        )
        async with AsyncExitStack() as stack:
            try:
                async with answer.kept_alive(coming.arrived):
                    taken = await stack.enter_async_context(self._quarantine.take(coming))
                    judgement = await asyncio.to_thread(judge, taken.brought, push.session)
                    if taken.may_mislead(found=bool(judgement.findings)):
                        taken = await self._quarantine.again(coming, taken)
                        judgement = await asyncio.to_thread(judge, taken.brought, push.session)
            except (Refused, BodyError) as refused:
                return await self._denied(push, answer, refuse_all(head.updates, str(refused)))
            return await self._decided(push, answer, taken, judgement)

    async def _decided(
        self, push: Push, answer: PushAnswer, taken: Taken, judgement: Judgement
    ) -> web.StreamResponse:
        head = push.head
        if taken.canary:
            return await self._alarmed(push, answer, taken.canary)
        aliases = refuse(head.updates, aliased(head.updates, taken.asked.listing, taken.asked.why))
        if not isinstance(aliases.decision, Allow):
            return await self._denied(push, answer, aliases, taken)
        # Nothing is waited for between this and the record of what is decided.
        now = self._sessions.find(push.session.token_sha256)
        if closed := still_open(now, push.session, push.grant):
            verdict = refuse_all(head.updates, closed.reason)
            return await self._denied(push, answer, verdict, taken, judgement)
        match judgement.decision:
            case Allow():
                return await self._allowed(push, answer, taken, judgement)
            case Hold():
                return await self._held(push, answer, taken, judgement)
            case Deny():
                verdict = PushVerdict(judgement.decision, judgement.refusals)
                return await self._denied(push, answer, verdict, taken, judgement)

    async def _allowed(
        self, push: Push, answer: PushAnswer, taken: Taken, judgement: Judgement
    ) -> web.StreamResponse:
        head, brought = push.head, taken.brought
        told = updates_of(head, {}) | facts_of(taken, judgement)
        seq = await self._record(push.session, push.grant, Allow(), told)
        accepted = AcceptedPush(
            push.session,
            push.grant,
            _moved(head),
            tuple(commit.oid for commit in brought.commits),
            seq,
            onto=brought.onto,
            findings=tuple(str(one) for one in judgement.findings),
        )
        headers = request_headers(push.request.headers)
        came = await self._forwarder.forward(
            accepted, head, taken, relay=answer.relay, headers=headers, sent=push.body.sent
        )
        if not came.trouble:
            return await answer.relay.finish()
        if came.begun:
            return answer.relay.cut_off()
        why = f"{came.trouble} (fetch to see whether the push arrived)"
        return await answer.refuse(refuse_all(head.updates, why))

    async def _held(
        self, push: Push, answer: PushAnswer, taken: Taken, judgement: Judgement
    ) -> web.StreamResponse:
        told = updates_of(push.head, judgement.refusals) | facts_of(taken, judgement)
        seq = await self._record(push.session, push.grant, judgement.decision, told)
        said = await self._holding.hold(
            push.session,
            push.grant,
            head=push.head,
            taken=taken,
            judgement=judgement,
            decision=seq,
        )
        refusals = dict.fromkeys(judgement.refusals, said)
        return await answer.refuse(PushVerdict(Hold(said), refusals))

    async def _denied(
        self,
        push: Push,
        answer: PushAnswer,
        verdict: PushVerdict,
        taken: Taken | None = None,
        judgement: Judgement | None = None,
    ) -> web.StreamResponse:
        told = updates_of(push.head, verdict.refusals, taken) | facts_of(taken, judgement)
        await self._record(push.session, push.grant, verdict.decision, told)
        await push.body.drain(self._drain_bytes)
        return await answer.refuse(verdict)

    async def _alarmed(self, push: Push, answer: PushAnswer, name: str) -> web.StreamResponse:
        canaries = self._watch.canaries_of(push.session)
        found = next(one for one in canaries if one.name == name)
        attempt = Attempt("git_push", push.grant.name)
        await self._watch.refuse(push.session, found, "a pushed pack", attempt)
        return await answer.forbid(TO_THE_SANDBOX)

    async def _record(
        self, session: Session, grant: RepoGrant, decision: Decision, detail: Mapping[str, Any]
    ) -> int:
        asked = Request.to("POST", f"{grant.url}/git-receive-pack")
        return await self._audit.decided(
            Decided("git_push", grant.name, decision, session, detail=detail, request=asked)
        )


async def _read_head(body: RequestBody) -> PushHead:
    parser = HeadParser()
    while chunk := await body.read():
        if head := parser.feed(chunk):
            return head
    raise ProtocolError("the request ends inside the list of commands")


async def _expect_end(head: PushHead, body: RequestBody) -> None:
    if head.rest or await body.read():
        raise ProtocolError("data follows an empty list of commands")


def _judge_head(head: PushHead, session: Session) -> PushVerdict:
    if head.signed:
        return PushVerdict(Deny("signed pushes are not taken; push without --signed"), {})
    if head.has_options:
        return refuse_all(head.updates, _NO_OPTIONS)
    return decide_push(head.updates, session.item, session.continues)


def _moved(head: PushHead) -> tuple[Moved, ...]:
    return tuple(Moved(update.name, update.old, update.new) for update in head.updates)
