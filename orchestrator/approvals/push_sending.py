"""A held push that was allowed: what is checked before it is sent, how it is sent, what is done then."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import structlog

from entrance.decision import Allow, Deny
from entrance.errors import Conflict, Forbidden, NotFound
from entrance.git import release
from entrance.git.report import Report
from entrance.git.standing import Stand, branch
from entrance.log.records import Audit, Decided, Request, Whose
from entrance.ports import AcceptedPush, Witness
from entrance.session import RepoGrant, RunId
from orchestrator.approvals.ports import ApprovalStore, Heard, KeptPushes, PushHosts
from orchestrator.domain.approval import OPEN, Approval, ApprovalState, Verb
from orchestrator.domain.push import (
    Wanted,
    claimed_by,
    grant_claimed,
    kept_of,
    may_still,
    release_run,
    wanted_from,
)
from orchestrator.domain.run import Cause
from orchestrator.ports import Runs, Tracker

log = structlog.get_logger()

_ASKED = "the host was asked afterwards what it has"
_NEVER_SENT: Mapping[ApprovalState, str] = {
    ApprovalState.DENIED: "denied by {by}",
    ApprovalState.EXPIRED: "nobody decided about it in time",
    ApprovalState.REVOKED: "taken back by {by}",
}


async def _nothing(_run: RunId) -> None:
    """There is nothing to be done."""


@dataclass(frozen=True, slots=True)
class PushSending:
    """Implements `orchestrator.approvals.ports.Sending`."""

    hosts: PushHosts
    kept: KeptPushes
    store: ApprovalStore
    runs: Runs
    tracker: Tracker
    audit: Audit
    witness: Witness | None = None
    forget: Callable[[RunId], Awaitable[None]] = _nothing
    """Revokes the credentials that were made to send it."""
    arrived: Callable[[RunId], Awaitable[None]] = _nothing
    """Is told whose push has arrived: its work may be proposed now. It may be told twice."""

    async def may(self, item: Approval) -> str:
        if await self._alarmed(item.run):
            return "a honeytoken was about to leave the sandbox that it comes from"
        grant = await self._grant(item)
        if isinstance(grant, str):
            return grant
        try:
            await self.hosts.check(_kept(wanted_from(item.wanted)))
        except (NotFound, Conflict) as error:
            return str(error)
        return ""

    async def stand(self, item: Approval) -> Stand:
        one = wanted_from(item.wanted)
        grant = await self._grant(item)
        if isinstance(grant, str):
            grant = grant_claimed(one, item)
        return await self.hosts.stand(grant, one.moved)

    async def claim(self, item: Approval) -> Mapping[str, Any]:
        grant = await self._grant(item)
        if isinstance(grant, str):
            raise Conflict(grant)
        return claimed_by(grant)

    def record(self, item: Approval, refused: str = "") -> Decided:
        one = wanted_from(item.wanted)
        updates = [{"ref": each.ref, "old": each.old, "new": each.new} for each in one.moved]
        return Decided(
            "git_push",
            one.repository,
            Deny(refused) if refused else Allow(),
            Whose(item.run, item.task, item.agent),
            detail={
                "updates": updates,
                "approval": item.id,
                "by": item.decided_by,
                "held": one.decision,
            },
            request=Request.to("POST", f"{one.url}/git-receive-pack"),
            rule=f"approval/{item.id}",
            key=f"approval/{item.id}/{'refused' if refused else 'sent'}",
        )

    def told(self, item: Approval, verb: Verb, words: str) -> Mapping[str, Any]:
        said = "ok" if verb is Verb.ARRIVE else f"ng {words}"
        refs = {each.ref: said for each in wanted_from(item.wanted).moved}
        return {"unpack": "", "refs": refs, "trouble": _ASKED}

    async def send(self, item: Approval) -> Heard:
        grant = await self._grant(item)
        if isinstance(grant, str):
            raise Forbidden(grant)
        sent = await self.hosts.send(grant, _kept(wanted_from(item.wanted)))
        detail = {
            "unpack": sent.report.unpack,
            "refs": dict(sent.report.refs),
            "trouble": sent.trouble,
        }
        return Heard(*_verdict(sent), detail, sent.traffic)

    async def over(self, item: Approval) -> None:
        one = wanted_from(item.wanted)
        if item.state in _NEVER_SENT:
            why = _NEVER_SENT[item.state].format(by=item.decided_by)
            await self.audit.decided(self.record(item, f"{why}: {item.note}" if item.note else why))
        if item.state is ApprovalState.RELEASED:
            await self._vouch(item, one)
        await self.forget(release_run(item))
        await self._let_go(item, one)
        if item.state is ApprovalState.RELEASED:
            await self.arrived(item.run)

    async def sweep(self, needed: Sequence[Approval]) -> None:
        names = {kept_of(one) for one in needed}
        for name in await self.kept.left_over():
            if name not in names:
                log.info("held_push_dropped", push=name, why="no open item needs it")
                await self.kept.drop(name)

    async def _vouch(self, item: Approval, one: Wanted) -> None:
        if self.witness is None:
            return
        try:
            push = await self.kept.push(one.kept)
        except NotFound:  # dropped, which comes after this
            return
        pushed = AcceptedPush(
            session=push.session,
            repository=push.repository,
            moved=push.moved,
            commits=push.commits,
            decision=item.came["decision"],
            approval=item.id,
            approved_by=item.decided_by,
            held=one.decision,
            onto=push.onto,
            findings=push.findings,
        )
        await self.witness.accepted(pushed)

    async def _let_go(self, item: Approval, one: Wanted) -> None:
        """Drop what was kept, unless the same push was held anew."""
        others = await self.store.of_task(item.task)
        if not any(other.state in OPEN and kept_of(other) == one.kept for other in others):
            await self.kept.drop(one.kept)

    async def _alarmed(self, run: RunId) -> bool:
        """Whether the run's work isn't to be taken for work well done."""
        try:
            return (await self.runs.get(run)).cause is Cause.HONEYTOKEN
        except NotFound:
            return False

    async def _grant(self, item: Approval) -> RepoGrant | str:
        hired = {one.id: one for one in await self.tracker.engagements()}
        engagement = hired.get(item.engagement)
        if engagement and engagement.bot != item.agent:
            engagement = None
        agent = await self.tracker.agent(item.agent) if engagement else None
        return may_still(
            wanted_from(item.wanted),
            item,
            engagement=engagement,
            agent=agent,
            task=await self.tracker.task(item.task),
        )


def _kept(one: Wanted) -> release.Wanted:
    return release.Wanted(one.kept, one.sha256, one.moved)


def _verdict(sent: release.Sent) -> tuple[Verb | None, str]:
    """What the host's report means, and its words."""
    report = sent.report
    match report.result:
        case "ok":
            return Verb.ARRIVE, ""
        case "refused":
            return Verb.FAIL, f"the host refused it: {_reasons(report)}"
        case _:
            return None, sent.trouble or "the host's answer could not be read"


def _reasons(report: Report) -> str:
    if report.unpack != "ok":
        return report.unpack[:200]
    told = [
        f"{branch(ref)}: {word.removeprefix('ng ')}"
        for ref, word in report.refs.items()
        if word != "ok"
    ]
    return "; ".join(told[:5])[:500]
