"""Judges what a push brings: every rule is asked, and the worst mode decides [pure]."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from entrance.decision import Allow, Decision, Deny, Hold
from entrance.git.checks.authors import is_foreign
from entrance.git.checks.facts import Brought, Commit, Move
from entrance.git.checks.finding import MOST_PLACES, Finding, Found
from entrance.git.checks.mending import mending
from entrance.git.checks.rules import MENDING, RULES, mode_of
from entrance.git.refs import NOT_ALONE
from entrance.push_policy import Mode, stricter
from entrance.session import Session

HELD_ALONG = "held along with another branch of this push"
_LONGEST_REASON = 900
"""Bytes; git's report has room for a little more."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What becomes of a push, and why."""

    decision: Decision
    refusals: Mapping[bytes, str] = field(default_factory=dict)
    """Unless it is allowed: each ref to why it doesn't move now."""
    findings: tuple[Finding, ...] = ()
    """All of them, the worst first; those that are only noted, too."""

    @property
    def reasons(self) -> tuple[str, ...]:
        """A sentence for each rule that holds or refuses the push."""
        return tuple(str(one) for one in self.findings if one.mode is not Mode.NOTE)


def judge(brought: Brought, session: Session) -> Judgement:
    """Ask every rule about the push."""
    findings = tuple(sorted(_findings(brought, session), key=lambda one: -one.mode.weight))
    worst = stricter(*(one.mode for one in findings))
    if worst is Mode.NOTE:
        return Judgement(Allow(), {}, findings)
    told = [one for one in findings if one.mode is worst]
    behind = _Behind(brought)
    reason = _reason(told, {one.rule: one.found for one in told}, behind.mending(session, None))
    refusals = {move.update.ref: _reason_for(move, told, behind, session) for move in brought.moves}
    if not any(refusals.values()):
        refusals = dict.fromkeys(refusals, reason)
    along = NOT_ALONE if worst is Mode.DENY else HELD_ALONG
    refusals = {ref: why or along for ref, why in refusals.items()}
    return Judgement(Deny(reason) if worst is Mode.DENY else Hold(reason), refusals, findings)


def _findings(brought: Brought, session: Session) -> Iterator[Finding]:
    for rule in RULES:
        masked = (
            replace(one, path=brought.masked(one.path)) for one in rule.find(brought, session)
        )
        if found := tuple(dict.fromkeys(masked)):
            mode = mode_of(rule, session.push_policy.modes)
            yield Finding(rule.name, mode, rule.told, rule.mend, found)


class _Behind:
    """Which of the push's commits are behind which of its refs."""

    def __init__(self, brought: Brought) -> None:
        self._brought = brought
        self._parents = {commit.oid: commit.parents for commit in brought.commits}
        self._known: dict[bytes, frozenset[str]] = {}

    def of(self, move: Move) -> frozenset[str]:
        ref = move.update.ref
        if ref not in self._known:
            alone = len(self._brought.moves) == 1
            seen = frozenset(self._parents) if alone else self._reached(move.update.new)
            self._known[ref] = seen
        return self._known[ref]

    def mending(self, session: Session, move: Move | None) -> str:
        """What an agent may do about its commits: those of one ref, or of all."""
        own = self.of(move) if move else frozenset(self._parents)
        commits = [one for one in self._brought.commits if one.oid in own]
        wrong = {one.oid for one in commits if is_foreign(one, session)}
        return mending(session, commits, _base(commits, move), wrong)

    def _reached(self, tip: str) -> frozenset[str]:
        seen: set[str] = set()
        ahead = [tip]
        while ahead:
            oid = ahead.pop()
            if oid in self._parents and oid not in seen:
                seen.add(oid)
                ahead.extend(self._parents[oid])
        return frozenset(seen)

    def concerns(self, found: Found, move: Move) -> bool:
        """Whether what was found is of this ref; what is of no ref and no commit, is of each."""
        if found.ref:
            return found.ref == move.update.ref
        return not found.commit or found.commit in self.of(move)


def _reason_for(move: Move, told: Sequence[Finding], behind: _Behind, session: Session) -> str:
    own = {
        finding.rule: [one for one in finding.found if behind.concerns(one, move)]
        for finding in told
    }
    mine = [finding for finding in told if own[finding.rule]]
    return _reason(mine, own, behind.mending(session, move)) if mine else ""


def _reason(told: Iterable[Finding], found: Mapping[str, Sequence[Found]], mending: str) -> str:
    """All that is wrong, then what may be done; with fewer places where it would be cut."""
    known = tuple(told)
    mends = "; ".join(dict.fromkeys(one.mend for one in known)).replace(MENDING, mending)

    def said(places: int) -> str:
        wrong = (f"{one.said(found[one.rule], places)} [{one.rule}]" for one in known)
        return f"{'; '.join(wrong)}: {mends}"

    whole = said(MOST_PLACES)
    return whole if len(whole.encode()) <= _LONGEST_REASON else said(1)


def _base(commits: Sequence[Commit], move: Move | None) -> str:
    """The commit below all that are new; `--root` when there is none."""
    if move and not move.update.creates and move.forward:
        return move.update.old
    return commits[0].parents[0] if commits and commits[0].parents else "--root"
