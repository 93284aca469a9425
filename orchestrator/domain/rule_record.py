"""Standing rules on record: in Polarion, at the engagement that each was made in [pure].

The inbox is operational state, which may be lost; what people have allowed for longer is put back from here.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import orjson
from pydantic import TypeAdapter, ValidationError

from orchestrator.domain.access import ID_LENGTH
from orchestrator.domain.approval import Approval, ApprovalState
from orchestrator.domain.kinds import CALL_RULE, EGRESS, TOOL

_KINDS = frozenset({EGRESS, CALL_RULE, TOOL})
_ID = re.compile(rf"[a-z0-9]{{{ID_LENGTH}}}")
_ITEM: TypeAdapter[Approval] = TypeAdapter(Approval)


@dataclass(frozen=True, slots=True)
class OnRecord:
    """An engagement, active or not, with what is on record at it."""

    engagement: str
    project: str
    agent: str
    text: str


@dataclass(frozen=True, slots=True)
class Read:
    """What could be read of a record, and why the rest could not."""

    rules: tuple[Approval, ...] = ()
    troubles: tuple[str, ...] = ()


def text_of(rules: Sequence[Approval]) -> str:
    """As it is recorded: JSON, the oldest first; empty for none."""
    if not rules:
        return ""
    ordered = sorted(rules, key=lambda one: (one.asked_at, one.id))
    rows = [_ITEM.dump_python(one, mode="json") for one in ordered]
    return orjson.dumps(rows, option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2).decode()


def read(record: OnRecord) -> Read:
    """What is on record, as far as it belongs there: a record opens nothing for another engagement."""
    if not record.text.strip():
        return Read()
    try:
        rows = orjson.loads(record.text)
    except orjson.JSONDecodeError:
        return Read(troubles=("it is no JSON",))
    if not isinstance(rows, list):
        return Read(troubles=("it is no list",))
    rules, troubles = [], []
    for number, row in enumerate(rows):
        rule = _read(record, row)
        if isinstance(rule, str):
            troubles.append(f"entry {number}: {rule}")
        else:
            rules.append(rule)
    return Read(tuple(rules), tuple(troubles))


def _read(record: OnRecord, row: object) -> Approval | str:
    try:
        rule = _ITEM.validate_json(orjson.dumps(row), strict=True)
    except ValidationError as error:
        return f"{'.'.join(map(str, error.errors()[0]['loc']))} can't be read"
    if rule.kind not in _KINDS or rule.state is not ApprovalState.STANDING:
        return "it is no standing rule"
    if not _ID.fullmatch(rule.id) or rule.granted_to:
        return "it is none that was made here"
    if (rule.engagement, rule.project, rule.agent) != (
        record.engagement,
        record.project,
        record.agent,
    ):
        return "it is another engagement's"
    own = {"engagement": record.engagement, "project": record.project, "agent": record.agent}
    if rule.scope is None or own[rule.scope.kind] != rule.scope.id:
        return "its scope is another's"
    return rule


@dataclass(frozen=True, slots=True)
class Made:
    """What is to be done about one engagement's record."""

    restored: tuple[Approval, ...]
    """Rules that the inbox has lost."""
    text: str
    """What the record is to be."""


def reconciled(
    recorded: Sequence[Approval],
    stored: Mapping[str, Approval | None],
    standing: Sequence[Approval],
) -> Made:
    """The record against the inbox. `stored`: what the inbox has under each recorded id.

    What the inbox knows is as it says; what it doesn't know any more stands as it is recorded.
    """
    lost = tuple(one for one in recorded if stored.get(one.id) is None)
    known = {one.id: one for one in standing}
    return Made(lost, text_of([*lost, *known.values()]))
