"""What a run pushed, and how it was judged: read from its lines of the egress log [pure]."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

HEADS = "refs/heads/"
_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+-]{0,99}")

type Line = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PushedRef:
    """One branch of one push. `state`: arrived, held, refused or unknown (no answer was heard)."""

    repository: str
    ref: str
    old: str
    new: str
    state: str

    @property
    def branch(self) -> str:
        return self.ref.removeprefix(HEADS)


@dataclass(frozen=True, slots=True)
class Pushes:
    """All of them, in order of time."""

    refs: tuple[PushedRef, ...] = ()
    findings: tuple[tuple[str, str], ...] = ()
    """Mode and sentence of what was found in those that arrived or are held, each once."""
    files: tuple[str, ...] = ()
    """What those changed, as far as it was recorded: sorted."""
    files_left_out: int = 0

    def arrived(self, repository: str) -> list[PushedRef]:
        """Those that the host took, as far as is known, of one repository."""
        taken = {"arrived", "unknown"}
        return [r for r in self.refs if r.repository == repository and r.state in taken]


@dataclass(slots=True)
class _Gathered:
    refs: list[PushedRef] = field(default_factory=list)
    findings: dict[tuple[str, str], None] = field(default_factory=dict)
    files: set[str] = field(default_factory=set)
    left_out: int = 0


def pushes_of(lines: Iterable[Line]) -> Pushes:
    """Read them. What a line lacks is left out."""
    lines = list(lines)
    outcomes = {line["of"]: line for line in lines if line["type"] == "outcome"}
    read = _Gathered()
    for line in lines:
        if line["type"] == "decided" and line.get("kind") == "git_push":
            _take(read, line, outcomes.get(line["seq"], {}))
    return Pushes(tuple(read.refs), tuple(read.findings), tuple(sorted(read.files)), read.left_out)


def _take(read: _Gathered, line: Line, outcome: Line) -> None:
    detail = line.get("detail", {})
    refs = [_ref(line, outcome, update) for update in detail.get("updates", [])]
    read.refs += refs
    if not {"arrived", "held", "unknown"} & {ref.state for ref in refs}:
        return
    for one in detail.get("findings", []):
        read.findings[str(one.get("mode", "")), str(one.get("said", ""))] = None
    read.files |= {str(path) for path in detail.get("files", [])}
    read.left_out += int(detail.get("files_left_out", 0))


def _ref(line: Line, outcome: Line, update: Mapping[str, Any]) -> PushedRef:
    ref = str(update.get("ref", ""))
    state = {"hold": "held", "deny": "refused"}.get(line["decision"]) or _came(outcome, ref)
    old, new = str(update.get("old", "")), str(update.get("new", ""))
    return PushedRef(str(line.get("subject", "")), ref, old, new, state)


def _came(outcome: Line, ref: str) -> str:
    detail = outcome.get("detail", {})
    unpack, said = detail.get("unpack", ""), str(detail.get("refs", {}).get(ref, ""))
    if not unpack and not said:
        return "unknown"
    return "arrived" if unpack in {"", "ok"} and not said.startswith("ng") else "refused"


def own_branch(name: str, items: Iterable[str]) -> str:
    """A branch as an agent names it, if it is one that its task may have; else nothing."""
    branch = name.strip().removeprefix(HEADS).removeprefix("origin/")
    parts = branch.split("/")
    fits = all(_PART.fullmatch(part) and ".." not in part for part in parts)
    own = any(branch.startswith(f"agent/{item}/") for item in items)
    return branch if fits and own else ""


def submitted_branch(
    named: str, pushes: Pushes, repository: str, items: Sequence[str], before: str = ""
) -> str:
    """The branch that is proposed: the one that the agent names, else the last that it pushed there.

    `before`: that of an earlier run of the task. Empty: nothing was pushed.
    """
    there = [
        ref.branch
        for ref in pushes.refs
        if ref.repository == repository and ref.state != "refused" and ref.ref.startswith(HEADS)
    ]
    if (own := own_branch(named, items)) and (own in there or not there or own == before):
        return own
    return there[-1] if there else before
