"""An accepted push to attest, as the door tells of it."""

from dataclasses import replace
from typing import Any

from entrance.attestation.statement import Push, push_of
from entrance.log.seal import Facts
from entrance.ports import AcceptedPush, Moved
from entrance.session import Authorship, RepoGrant, RunId, Session, TaskId

NONE, OLD, FIRST, TIP = "0" * 40, "1" * 40, "a" * 40, "b" * 40
REF = "refs/heads/agent/DEMO-7/fix"
IMAGE = f"sha256:{'5' * 64}"
AT = "2026-01-05T09:00:00+00:00"
WHOSE = Authorship(
    "Rex",
    "bot-rex@agents.sandgate.invalid",
    "anthropic:claude-test",
    frozenset({RunId("run1"), RunId("run0")}),
)
SESSION = Session(
    run=RunId("run1"),
    task=TaskId("DEMO/DEMO-7"),
    project="DEMO",
    agent="bot-rex",
    address="10.0.0.2",
    token_sha256="0" * 64,
    sandbox="sb-1",
    harness="native",
    image=IMAGE,
    authorship=WHOSE,
)
ACCEPTED = AcceptedPush(
    session=SESSION,
    repository=RepoGrant("git.example/thing.git", "https://git.example/thing.git", push=True),
    moved=(Moved(REF, OLD, TIP),),
    commits=(FIRST, TIP),
    decision=3,
    onto=(OLD,),
    findings=("a file was made executable (run.sh) [executable-bit]",),
)
STOOD = Facts(1, "sandgate", 1, 4, 900, "0" * 64, "c" * 64, AT)


def accepted(**changed: Any) -> AcceptedPush:
    return replace(ACCEPTED, **changed)


def a_statement(**changed: Any) -> Push:
    said = push_of(ACCEPTED, STOOD, key_id="0123456789abcdef", at=AT, version="0.0.test")
    return said.model_copy(update=changed)
