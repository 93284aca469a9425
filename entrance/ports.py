"""What the door needs from whoever runs it. Each port belongs to its user; what it raises is said."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Protocol, runtime_checkable

from entrance.session import Ended, Envelope, RepoGrant, RunId, Session, TaskId
from entrance.tool_policy import Facts, Mode, StandingRule


class Sessions(Protocol):
    """Finds the session of a run token."""

    def find(self, token_sha256: str) -> Session | Ended | None:
        """The session, `Ended` when its run is over, None when the token was never one of ours."""
        ...


class Addresses(Protocol):
    """Knows whose sandbox has which address."""

    def at(self, address: str) -> Session | None:
        """The open session of the sandbox at an address, or None."""
        ...


@dataclass(frozen=True, slots=True)
class Cause:
    """What of a run was open when it asked for something.

    `step` is the number of the run's event that began it, as its transcript counts them. `tool` and
    `call` name the newest tool call that was open, `since` when it began (ISO 8601); without a
    tool, the model was at work. `others`: so many more calls were open beside it.
    """

    step: int | None = None
    tool: str = ""
    call: str = ""
    since: str = ""
    others: int = 0


class Causes(Protocol):
    """Knows what each run is doing."""

    def of(self, run: RunId) -> Cause | None:
        """What is open now; None when nothing is known of the run."""
        ...


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as MCP lists it. `input_schema` is JSON Schema. `read_only`: it changes nothing."""

    name: str
    description: str
    input_schema: Mapping[str, Any]
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool answered: text for the agent, `is_error` when the call failed."""

    text: str
    is_error: bool = False
    touched: tuple[str, ...] = ()
    """Ids of the records that the call read or changed, for the run's ledger."""


@dataclass(frozen=True, slots=True)
class McpServer:
    """A server of others that runs may be granted tools of, as a connection of this name."""

    name: str
    url: str
    """Streamable HTTP's."""
    secret: str = ""
    """The name of its credential in the vault; empty when it takes none."""
    modes: Mapping[str, Mode] = field(default_factory=dict)
    """What is said of its tools whoever uses them; what was granted can only be stricter."""


class ToolProvider(Protocol):
    """One connection's tools."""

    @property
    def connection(self) -> str:
        """The connection's name, as grants name it."""
        ...

    async def tools(self, session: Session) -> Sequence[Tool]:
        """Everything the connection offers; the gateway shows only what was granted."""
        ...

    async def call(self, session: Session, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Do it. Bad arguments and refusals by the far side come back as an error result.

        Raises: Unavailable when the far side can't be reached.
        """
        ...


@runtime_checkable
class TellsFacts(Protocol):
    """A provider that knows more of a call than its arguments say."""

    async def facts(self, session: Session, tool: str, arguments: Mapping[str, Any]) -> Facts:
        """What a call would be about, and change. Arguments were not checked yet.

        Raises: Unavailable; then the call is refused.
        """
        ...


class StandingCalls(Protocol):
    """Knows what people have allowed for more than one call."""

    def of(self, session: Session) -> Sequence[StandingRule]:
        """The rules that are in force for a session now. No I/O: it is asked before every call."""
        ...


@dataclass(frozen=True, slots=True)
class HeldCall:
    """A tool call that waits for a person."""

    session: Session
    connection: str
    tool: str
    """As its connection names it."""
    shown: str
    """As the agent knows it."""
    arguments: Mapping[str, Any]
    canonical: str
    """The arguments in their one form (RFC 8785); `sha256` is of it, hex."""
    sha256: str
    reason: str
    """Why it is held, as a sentence without its end."""
    rule: str
    decision: int
    """The sequence number of the log's record of it."""
    two_people: bool = False
    call: str = ""
    """The call's id, as its transcript has it."""


class CallInbox(Protocol):
    """Where people are asked about tool calls."""

    async def ask(self, call: HeldCall) -> str:
        """Have a person asked; what the agent is told. Asked again of the same call, it tells how it stands.

        Raises: Unavailable; Conflict when it can't be asked: too much was, or it is too long.
        """
        ...


@dataclass(frozen=True, slots=True)
class Touched:
    """A honeytoken that was about to leave its sandbox. Names, never the value.

    `place` is the file that it stands in, `where` the part of the request that it was in, `subject`
    what the request wanted.
    """

    run: RunId
    task: TaskId
    canary: str
    place: str
    where: str
    door: str
    subject: str = ""


class Alarm(Protocol):
    """Is told when a honeytoken was touched."""

    def raised(self, touched: Touched) -> None:
        """The run's token opens nothing any more when this returns; its sandbox is frozen next."""
        ...


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or many model calls, and what they cost in US dollars."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_usd: Decimal = field(default_factory=Decimal)
    calls: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            self.cost_usd + other.cost_usd,
            self.calls + other.calls,
        )


class Meter(Protocol):
    """Adds up what each run spends. What was added survives a crash of the process."""

    async def spent(self, run: RunId) -> Usage:
        """What the run has spent so far. Raises: Unavailable (then the call is refused)."""
        ...

    async def spent_of(self, envelope: Envelope) -> Decimal:
        """What all runs together have spent of an envelope, in US dollars. Raises: Unavailable."""
        ...

    async def add(self, run: RunId, usage: Usage, lender: str = "") -> None:
        """Add one call's usage. Raises: Unavailable.

        `lender`: the run whose envelope pays it too, and with it whoever lends to that one.
        """
        ...


@dataclass(frozen=True, slots=True)
class Moved:
    """One branch of a push: where it was (all zeros: nowhere), and where it goes."""

    ref: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class HeldPush:
    """A push that waits for a person. Its bytes are kept under `id`."""

    id: str
    session: Session
    repository: RepoGrant
    moved: tuple[Moved, ...]
    commits: tuple[str, ...]
    """Those that the host doesn't have yet, oldest first."""
    reasons: tuple[str, ...]
    """What was found, a sentence each."""
    decision: int
    """The sequence number of the log's record of it."""
    sha256: str
    """Of the request's whole body, hex, as it is kept and would be sent: what is allowed is what is sent."""
    size_bytes: int
    onto: tuple[str, ...] = ()
    """What those commits stand on, and the host has (`Brought.onto`)."""
    findings: tuple[str, ...] = ()
    """All that was found, a sentence each: the reasons, and what is only written down."""


class PushInbox(Protocol):
    """Where people are asked about pushes."""

    async def ask(self, push: HeldPush) -> str:
        """Have a person asked; what the agent is told. Asked again of the same push, it tells how it stands.

        The bytes of a push that was asked of before are dropped here: those of the first time stand.
        Raises: Unavailable; Conflict when the run has asked for too much. Then the caller drops them.
        """
        ...


@dataclass(frozen=True, slots=True)
class AcceptedPush:
    """A push that the host has taken."""

    session: Session
    repository: RepoGrant
    moved: tuple[Moved, ...]
    commits: tuple[str, ...]
    """Those that the host didn't have before, oldest first."""
    decision: int
    """The sequence number of the log's record that allowed it."""
    approval: str = ""
    """The inbox's item by which a person allowed it; empty when nobody had to."""
    approved_by: str = ""
    """Who that person was."""
    held: int = 0
    """The sequence number of the log's record that held it; 0 when nothing did."""
    onto: tuple[str, ...] = ()
    """What those commits stand on, and the host had (`Brought.onto`)."""
    findings: tuple[str, ...] = ()
    """What was found and let through, a sentence each."""


class Witness(Protocol):
    """Vouches for what came out of a sandbox."""

    async def accepted(self, push: AcceptedPush) -> None:
        """Write the attestation of a push; one, however often it is told. Raises: Unavailable."""
        ...
