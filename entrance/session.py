"""Who stands at the door: the run token a sandbox shows, and the session it means [pure]."""

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal, NewType

from entrance.push_policy import PushPolicy
from entrance.tool_policy import ConnectionRules

RunId = NewType("RunId", str)
TaskId = NewType("TaskId", str)
"""A work item's full id, `PROJECT/ITEM`, as Polarion's REST names it."""

TOKEN_PREFIX = "sgr_"  # noqa: S105 - a prefix, so that scanners recognise a leaked token


def new_run_token() -> str:
    """A fresh opaque run token: 256 random bits. Only its hash is ever stored."""
    return TOKEN_PREFIX + secrets.token_urlsafe(32)


def hash_token(token: str) -> str:
    """SHA-256 of a token, hex: the only form in which a token is kept."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


HostKind = Literal["github", "gitlab", "gitea", "plain"]
"""What a git host is beside git; `gitea` is Forgejo, too, `plain` is nothing."""


@dataclass(frozen=True, slots=True)
class RepoGrant:
    """One repository that a run may fetch, and may push its own branches to when `push`.

    `name` is its path at the door (`/git/<name>`): host[:port]/path, no scheme.
    `url` is the real one. `credential` names the vault's secret for it; None means none is needed.
    """

    name: str
    url: str
    push: bool = False
    credential: str | None = None
    host: HostKind = "plain"
    api: str = ""
    """The base URL of the host's API; empty where it has none."""
    full_name: str = ""
    """`owner/name`, as the host's API has it."""
    pull_requests: bool = False
    """Whether one is opened for what its agent submits."""
    released: bool = False
    """Whether it is used for a push that a person has let through."""
    run: RunId = RunId("")
    """On whose behalf it is used: credentials that are made for a run are made for this one."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """A sum of money that several runs share: all of them together may spend `limit_usd` of it.

    `kind` and `id` name it: an engagement (all its runs), or a run (it and those it delegated to).
    """

    kind: Literal["engagement", "run"]
    id: str
    limit_usd: Decimal


@dataclass(frozen=True, slots=True)
class Backend:
    """The one system that a server in a sandbox works with, through the door.

    `url`: what it is granted lies below it. `secret` names the vault's credential for it.
    """

    url: str
    secret: str


@dataclass(frozen=True, slots=True)
class Authorship:
    """Whose commits a run may push, and what they say of where they come from."""

    name: str
    mail: str
    """The agent's own, as author and committer."""
    model: str
    """`provider:model`."""
    runs: frozenset[RunId]
    """This run, and the task's runs before it: their work may still be on the task's disk."""


@dataclass(frozen=True, slots=True)
class Session:
    """What a run token means: one run, from one source address, with these grants and no others."""

    run: RunId
    task: TaskId
    project: str
    agent: str
    """The bot user that acts in Polarion."""
    address: str
    """The sandbox's source address. A token shown from anywhere else opens nothing."""
    token_sha256: str
    tools: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Connection name to the tools granted at it."""
    tool_rules: Mapping[str, ConnectionRules] = field(default_factory=dict)
    """What is granted at a connection where it is more than a list; else what `tools` has stands."""
    repositories: tuple[RepoGrant, ...] = ()
    models: frozenset[str] = frozenset()
    """Granted models, `provider:model`."""
    budget_usd: Decimal = Decimal(0)
    """What this run may spend on models."""
    envelopes: tuple[Envelope, ...] = ()
    """What it draws on besides: a call must fit into its own budget and into each of these."""
    honeytokens: tuple[RunId, ...] = ()
    """Whose canaries may be in its sandbox: its own, and those of the task's runs before."""
    unpriced_models: bool = False
    """Whether it may call granted models without a price; they then cost nothing here."""
    sandbox: str = ""
    """The sandbox that it was made for; for the record only."""
    harness: str = ""
    """The program that is its agent; for the record only."""
    server: str = ""
    """The connection whose MCP server the sandbox is for; empty: it is the agent's. For the record only."""
    backend: Backend | None = None
    """Of an MCP server's sandbox: what is reached with its token, and all that is."""
    image: str = ""
    """The digest of the sandbox's image, `sha256:...`; for the record only."""
    authorship: Authorship | None = None
    """None: nothing is known of whose commits its are, and none may be pushed."""
    push_policy: PushPolicy = field(default_factory=PushPolicy)
    continues: frozenset[str] = frozenset()
    """Items of other tasks whose branches it may push, too."""
    trial: bool = False
    """It only tries whether the door holds: what it pushes is logged, and nobody vouches for it."""

    @property
    def item(self) -> str:
        """The task's id inside its project, as branches carry it (`agent/<item>/...`)."""
        return self.task.rsplit("/", 1)[-1]

    def repository(self, name: str) -> RepoGrant | None:
        """The grant for the repository at `/git/<name>`, or None when there is none."""
        return next((grant for grant in self.repositories if grant.name == name), None)


@dataclass(frozen=True, slots=True)
class Ended:
    """A session that was closed. Kept so that a token used after its run is named as such."""

    run: RunId
