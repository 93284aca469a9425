"""Which ref updates a run may push: branches under `refs/heads/agent/<ITEM>/`, no others [pure].

A person may let a task go on with others' branches; then those namespaces are open, too.
Rewrites can't be told here (the new commit is unknown until its pack is read): see `checks`.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from entrance.decision import Allow, Decision, Deny

MAX_REF_BYTES = 200
NOT_ALONE = "not pushed: another ref of this push was refused"
_ITEM = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
_BELOW = re.compile(
    rb"[A-Za-z0-9_][A-Za-z0-9._+-]{0,99}(?:/[A-Za-z0-9_][A-Za-z0-9._+-]{0,99}){0,6}"
)
"""What may follow `agent/<ITEM>/`. An ASCII allow-list ends tricks with case, spaces, newlines,
look-alike letters and names that a command line would take for an option."""


@dataclass(frozen=True, slots=True)
class RefUpdate:
    """One command of a push: move `ref` from the object `old` to `new` (hex; all zeros: none)."""

    old: str
    new: str
    ref: bytes

    @property
    def name(self) -> str:
        """The ref as text; bytes that are no UTF-8 are escaped."""
        return self.ref.decode("utf-8", "backslashreplace")

    @property
    def creates(self) -> bool:
        return not self.old.strip("0")

    @property
    def deletes(self) -> bool:
        return not self.new.strip("0")


@dataclass(frozen=True, slots=True)
class PushVerdict:
    """All or nothing: `Allow` for the whole push, or `Deny` with every ref's own reason."""

    decision: Decision
    refusals: Mapping[bytes, str]
    """Each ref to why it is not pushed; empty when the push is allowed."""


@dataclass(frozen=True, slots=True)
class _Rule:
    broken_by: Callable[[RefUpdate, str], bool]
    reason: str
    """`{own}` stands for the run's own namespace, `agent/<ITEM>/`."""


def _namespace(item: str) -> bytes:
    return f"refs/heads/agent/{item}/".encode()


def _is_ill_named(ref: bytes, item: str) -> bool:
    below = ref.removeprefix(_namespace(item))
    parts = below.split(b"/")
    return (
        len(ref) > MAX_REF_BYTES
        or not _BELOW.fullmatch(below)
        or b".." in below
        or any(part.endswith((b".lock", b".")) for part in parts)
    )


def _is_item(item: str) -> bool:
    """Whether a task's id can name a branch."""
    return bool(_ITEM.fullmatch(item)) and ".." not in item and not item.endswith((".lock", "."))


def _whose(ref: bytes, item: str, continues: Collection[str]) -> str:
    """The task whose namespace is to be looked at: one that is gone on with, or the run's own."""
    if not _is_item(item):
        return item
    others = (one for one in continues if _is_item(one))
    return next((one for one in others if (ref + b"/").startswith(_namespace(one))), item)


_RULES = (
    _Rule(
        lambda _, item: not _is_item(item),
        "this run's task has no id that could name a branch, so it may push nothing",
    ),
    _Rule(
        lambda update, _: update.ref.startswith(b"refs/tags/"),
        "tags may not be pushed; push a branch under {own}",
    ),
    _Rule(
        lambda update, _: update.ref.startswith(b"refs/notes/"),
        "notes may not be pushed; push a branch under {own}",
    ),
    _Rule(
        lambda update, _: not update.ref.startswith(b"refs/heads/"),
        "only branches may be pushed, under {own}",
    ),
    _Rule(
        lambda update, item: update.ref + b"/" in {b"refs/heads/agent/", _namespace(item)},
        "this name is a namespace; add a name below it, such as {own}fix",
    ),
    _Rule(
        lambda update, item: (
            update.ref.startswith(b"refs/heads/agent/")
            and not update.ref.startswith(_namespace(item))
        ),
        "this namespace belongs to another task; this run may push only branches under {own}",
    ),
    _Rule(
        lambda update, item: not update.ref.startswith(_namespace(item)),
        "this run may push only branches under {own}",
    ),
    _Rule(
        lambda update, _: update.deletes,
        "branches may not be deleted",
    ),
    _Rule(
        lambda update, item: _is_ill_named(update.ref, item),
        "branch name not allowed; below {own} use ASCII letters, digits and . _ + -, "
        "at most seven parts and 200 bytes",
    ),
)
"""First broken rule gives the reason."""


def decide_ref(update: RefUpdate, item: str, continues: Collection[str] = frozenset()) -> Decision:
    """Say whether a run of the task `item`, which `continues` others, may make this one update."""
    for rule in _RULES:
        if rule.broken_by(update, _whose(update.ref, item, continues)):
            reason = rule.reason.format(own=f"agent/{item}/")
            others = " and ".join(f"agent/{one}/" for one in sorted(filter(_is_item, continues)))
            return Deny(f"{reason} (it may go on with {others}, too)" if others else reason)
    return Allow()


def decide_push(
    updates: Sequence[RefUpdate], item: str, continues: Collection[str] = frozenset()
) -> PushVerdict:
    """Judge a whole push: one refused update refuses them all."""
    refusals: dict[bytes, str] = {}
    seen: set[bytes] = set()
    for update in updates:
        decision = decide_ref(update, item, continues)
        if isinstance(decision, Allow) and update.ref in seen:
            decision = Deny("the same branch twice in one push")
        seen.add(update.ref)
        if not isinstance(decision, Allow):
            refusals.setdefault(update.ref, decision.reason)
    return refuse(updates, refusals)


def refuse_all(updates: Sequence[RefUpdate], reason: str) -> PushVerdict:
    """The verdict that refuses every ref for one reason."""
    return PushVerdict(Deny(reason), {update.ref: reason for update in updates})


def refuse(updates: Sequence[RefUpdate], refusals: Mapping[bytes, str]) -> PushVerdict:
    """The verdict when these refs are refused: the others are not pushed for their sake."""
    if not refusals:
        return PushVerdict(Allow(), {})
    told = {update.ref: refusals.get(update.ref, NOT_ALONE) for update in updates}
    first = next(update for update in updates if update.ref in refusals)
    return PushVerdict(Deny(f"{first.name}: {refusals[first.ref]}"), told)
