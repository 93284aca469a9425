"""One push: its head judged before a byte goes on, its bytes forwarded, its result recorded.

The pack streams through: nothing is kept. A refusal is told in git's own report, so that git
prints the reason; an HTTP error would make it print "Everything up-to-date".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from aiohttp import web

from entrance.decision import Allow, Decision, Deny
from entrance.errors import SandgateError
from entrance.git.aliases import AliasReader, encode_question
from entrance.git.body import BodyError, RequestBody
from entrance.git.pktline import ProtocolError
from entrance.git.receive_pack import HeadParser, PushHead
from entrance.git.refs import PushVerdict, decide_push, refuse
from entrance.git.relay import Relay, plain
from entrance.git.report import Report, ReportReader, encode_refusal
from entrance.git.upstream import GitHost, headers_of, request_headers
from entrance.git.watched import Watched, report
from entrance.honeytokens.watch import TO_THE_SANDBOX, Attempt, Watch
from entrance.log.records import Audit, Decided, Outcome, Request, Traffic
from entrance.session import RepoGrant, Session

RESULT = "application/x-git-receive-pack-result"
_NO_OPTIONS = "push options are not taken, as hosts do more for them than move a branch"
"""GitLab, for one, opens and merges merge requests by them, with the door's own credential."""


@dataclass(frozen=True, slots=True)
class Passing:
    """A push that was allowed: its head, the rest of its bytes, and who looks through them."""

    head: PushHead
    body: RequestBody
    watched: Watched


class Pusher:
    """Takes pushes for granted repositories. `drain_bytes`: what is read of a refused push."""

    def __init__(self, host: GitHost, audit: Audit, watch: Watch, drain_bytes: int) -> None:
        self._host = host
        self._audit = audit
        self._watch = watch
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
        attempt = Attempt("git_push", grant.name)
        if watched.head(head):
            await report(self._watch, session, watched, attempt)
            return plain(HTTPStatus.FORBIDDEN, TO_THE_SANDBOX)
        if head.asks_nothing:
            return await Relay(request, RESULT).finish()
        verdict = await self._judge(head, session, grant)
        seq = await self._record(session, grant, verdict.decision, _told(head, verdict))
        if not isinstance(verdict.decision, Allow):
            await body.drain(self._drain_bytes)
            return await _refusal(request, head, verdict)
        try:
            return await self._forward(request, grant, Passing(head, body, watched), seq)
        finally:
            await report(self._watch, session, watched, attempt)

    async def _judge(self, head: PushHead, session: Session, grant: RepoGrant) -> PushVerdict:
        if head.signed:
            return PushVerdict(Deny("signed pushes are not taken; push without --signed"), {})
        if head.has_options:
            return _all_for(head, _NO_OPTIONS)
        verdict = decide_push(head.updates, session.item)
        if not isinstance(verdict.decision, Allow):
            return verdict
        return refuse(head.updates, await self._aliased(head, grant))

    async def _aliased(self, head: PushHead, grant: RepoGrant) -> Mapping[bytes, str]:
        """The refs that would move another branch, each with the sentence that says so.

        A ref that the push creates is safe: the host compares the old value through the alias.
        """
        existing = [update for update in head.updates if not update.creates]
        if not existing:
            return {}
        question = encode_question((update.ref for update in existing), head.hash_name)
        headers = request_headers({"Git-Protocol": "version=2"})
        reader = AliasReader()
        try:
            async with self._host.request(grant, "git-upload-pack", headers, question) as answer:
                async for chunk in answer.content.iter_any():
                    reader.feed(chunk)
            targets = reader.targets()
        except (SandgateError, ProtocolError) as error:
            why = f"it could not be checked whether this branch is an alias of another: {error}"
            return {update.ref: why for update in existing}
        return {
            update.ref: "this branch is an alias of another on the host; push under a new name"
            for update in existing
            if update.ref in targets
        }

    async def _forward(
        self, request: web.Request, grant: RepoGrant, push: Passing, seq: int
    ) -> web.StreamResponse:
        head, body, watched = push.head, push.body, push.watched
        relay = Relay(request, RESULT)
        reader = ReportReader(head.capabilities)
        trouble = "the sandbox left before the answer"
        source = self._host.request(
            grant, "git-receive-pack", headers_of(request), watched.push(head, body)
        )
        try:
            error = await relay.pass_on(source, reader.feed)
            trouble = str(watched.trouble or body.refused or error or "")
        finally:
            moved = Traffic.of(body.sent, relay.came)
            await self._came_of_it(seq, reader.report(), trouble, moved)
        if not trouble:
            return await relay.finish()
        if relay.started:
            return relay.cut_off()
        if watched.found:
            return plain(HTTPStatus.FORBIDDEN, TO_THE_SANDBOX)
        await body.drain(self._drain_bytes)
        why = f"{trouble} (fetch to see whether the push arrived)"
        return await _refusal(request, head, _all_for(head, why))

    async def _record(
        self, session: Session, grant: RepoGrant, decision: Decision, detail: Mapping[str, Any]
    ) -> int:
        asked = Request.to("POST", f"{grant.url}/git-receive-pack")
        return await self._audit.decided(
            Decided("git_push", grant.name, decision, session, detail=detail, request=asked)
        )

    async def _came_of_it(self, seq: int, report: Report, trouble: str, moved: Traffic) -> None:
        detail = {"unpack": report.unpack, "refs": dict(report.refs), "trouble": trouble}
        await self._audit.came_of_it(Outcome(seq, report.result, detail, moved))


async def _read_head(body: RequestBody) -> PushHead:
    parser = HeadParser()
    while chunk := await body.read():
        if head := parser.feed(chunk):
            return head
    raise ProtocolError("the request ends inside the list of commands")


async def _expect_end(head: PushHead, body: RequestBody) -> None:
    if head.rest or await body.read():
        raise ProtocolError("data follows an empty list of commands")


def _all_for(head: PushHead, reason: str) -> PushVerdict:
    return PushVerdict(Deny(reason), {update.ref: reason for update in head.updates})


async def _refusal(
    request: web.Request, head: PushHead, verdict: PushVerdict
) -> web.StreamResponse:
    note = f"sandgate: {verdict.decision.reason}"
    told = encode_refusal(head.capabilities, verdict.refusals, note) if head.updates else None
    if told is None:
        return plain(HTTPStatus.FORBIDDEN, note)
    relay = Relay(request, RESULT)
    await relay.write(told)
    return await relay.finish()


def _told(head: PushHead, verdict: PushVerdict) -> dict[str, Any]:
    return {
        "updates": [
            {
                "ref": update.name,
                "old": update.old,
                "new": update.new,
                "refused": verdict.refusals.get(update.ref, ""),
            }
            for update in head.updates
        ]
    }
