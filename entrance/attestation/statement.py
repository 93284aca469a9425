"""What is said of a push that the host took, as an in-toto statement (v1) [pure].

Its subjects are the tips of the branches, then the commits that the push brought; each by the digest
`gitCommit`, its object id. The fields' words here are those of the reference page.
"""

from typing import Annotated, Any

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from entrance.log.seal import Facts
from entrance.log.signing import UntrustedError
from entrance.ports import AcceptedPush

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://agents.sandgate.invalid/push/v1"

Oid = Annotated[str, Field(pattern="^([0-9a-f]{40}|[0-9a-f]{64})$")]


class _Part(BaseModel):
    model_config = ConfigDict(
        strict=True,
        frozen=True,
        alias_generator=to_camel,
        populate_by_name=True,
        use_attribute_docstrings=True,
    )


class Origin(_Part):
    """Who pushed, and what it was made of."""

    id: str
    """The run."""
    task: str
    """Its task, `PROJECT/ITEM`."""
    project: str
    """Its project in Polarion."""
    agent: str
    """The bot user that acts in Polarion."""
    model: str
    """`provider:model`."""
    harness: str
    """The program that was the agent."""
    sandbox: str
    """The sandbox that it came out of."""
    image: str
    """The digest of that sandbox's image."""


class Author(_Part):
    """Whose commits the run could push."""

    name: str
    """As author and committer of the commits."""
    mail: str
    """The same."""
    runs: tuple[str, ...]
    """The run, and the task's runs before it, whose commits may be among them."""


class Place(_Part):
    """The repository."""

    name: str
    """As it is called at the door."""
    url: str
    """As the engagement grants it."""


class Ref(_Part):
    """A branch that moved."""

    ref: str
    """Its whole name."""
    old: Oid
    """Where it was; all zeros: it is new."""
    new: Oid
    """Where it is now."""


class Approval(_Part):
    """A person's consent."""

    id: str
    """The inbox's item."""
    by: str
    """Who allowed it."""


class Link(_Part):
    """Where the egress log stood after the host took the push."""

    segment: int
    """The number of the segment that was written to."""
    seq: int
    """The number of its newest record."""
    hash: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    """That record's hash, which ties it to all before."""
    key_id: str
    """The key that signs the log."""


class Push(_Part):
    """The predicate."""

    installation: str
    """Its name."""
    version: str
    """Of Sandgate."""
    accepted_at: str
    """ISO 8601, UTC."""
    run: Origin
    author: Author | None = None
    repository: Place
    refs: tuple[Ref, ...]
    commits: tuple[Oid, ...]
    """Those that the host didn't have before, oldest first."""
    onto: tuple[Oid, ...]
    """What those stand on, and the host had: their other parents, and tips that are none of them."""
    decision: int
    """The number of the log's record that allowed the push."""
    held: int | None = None
    """The number of the one that held it before."""
    approval: Approval | None = None
    findings: tuple[str, ...]
    """What was found and let through, a sentence each; the rule's name is in brackets."""
    log: Link

    @property
    def attested(self) -> frozenset[str]:
        """What it speaks of. It vouches for the commits only: a tip may be one that others made."""
        return frozenset(self.commits) | {one.new for one in self.refs}


class Statement(_Part):
    """The whole."""

    type: str = Field(alias="_type")
    subject: tuple[dict[str, Any], ...]
    predicate_type: str
    predicate: Push


def push_of(push: AcceptedPush, log: Facts, *, key_id: str, at: str, version: str) -> Push:
    """What is said of a push. `log`: its newest segment, after the decision was recorded in it."""
    session, whose = push.session, push.session.authorship
    return Push(
        installation=log.installation,
        version=version,
        accepted_at=at,
        run=Origin(
            id=session.run,
            task=session.task,
            project=session.project,
            agent=session.agent,
            model=whose.model if whose else "",
            harness=session.harness,
            sandbox=session.sandbox,
            image=session.image,
        ),
        author=Author(name=whose.name, mail=whose.mail, runs=tuple(sorted(whose.runs)))
        if whose
        else None,
        repository=Place(name=push.repository.name, url=push.repository.url),
        refs=tuple(Ref(ref=one.ref, old=one.old, new=one.new) for one in push.moved),
        commits=push.commits,
        onto=push.onto,
        decision=push.decision,
        held=push.held or None,
        approval=Approval(id=push.approval, by=push.approved_by) if push.approval else None,
        findings=push.findings,
        log=Link(segment=log.segment, seq=log.end.seq, hash=log.head, key_id=key_id),
    )


def written(push: Push) -> bytes:
    """The statement, in its one writing."""
    repository = f"git+{push.repository.url}"
    tips = [(f"{repository}@{one.ref}", one.new) for one in push.refs]
    subject = [
        {"name": name, "digest": {"gitCommit": oid}}
        for name, oid in (*tips, *((repository, oid) for oid in push.commits))
    ]
    predicate = push.model_dump(by_alias=True, exclude_none=True)
    whole = {
        "_type": STATEMENT,
        "subject": subject,
        "predicateType": PREDICATE,
        "predicate": predicate,
    }
    return orjson.dumps(whole, option=orjson.OPT_SORT_KEYS)


def read(text: bytes) -> Push:
    """What a statement says. Fields of a newer version are passed over. Raises: UntrustedError."""
    try:
        statement = Statement.model_validate_json(text)
    except ValidationError as error:
        raise UntrustedError("unreadable", "it holds no statement about a push") from error
    if (statement.type, statement.predicate_type) != (STATEMENT, PREDICATE):
        raise UntrustedError("unreadable", "it holds a statement of another kind")
    told = {one.get("digest", {}).get("gitCommit") for one in statement.subject}
    if told != statement.predicate.attested:
        raise UntrustedError("unreadable", "its subjects are not the commits that it lists")
    return statement.predicate
