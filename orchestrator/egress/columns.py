"""What a row of `attempts` says: the columns, of which the SQL and the reference page are made [pure]."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Source = Literal["decided", "outcome", "both"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column. `reads` is where it comes from in a line of the log, as DuckDB's JSON path."""

    name: str
    type: str
    """DuckDB's name of it."""
    source: Source
    """Which line has it; of `both` the outcome's goes before the decision's: it is known later."""
    meaning: str
    reads: str = ""
    """The field of the line, when it is not called as the column; a dot leads into an object."""

    @property
    def field(self) -> str:
        """The line's own field."""
        return (self.reads or self.name).partition(".")[0]

    @property
    def inner(self) -> str:
        """The field inside that field's object; empty when the field is no object."""
        return (self.reads or self.name).partition(".")[2]


_DECIDED: Sequence[tuple[str, str, str]] = (
    ("door", "VARCHAR", "Which way out: egress, model, mcp, git, fence, entrance."),
    ("kind", "VARCHAR", "What kind of attempt it was at that door."),
    ("run", "VARCHAR", "The run."),
    ("task", "VARCHAR", "The task it worked on."),
    ("agent", "VARCHAR", "The agent's user."),
    ("sandbox", "VARCHAR", "The sandbox."),
    ("server", "VARCHAR", "The connection whose MCP server the sandbox is for; NULL: the agent's."),
    ("address", "VARCHAR", "The sandbox's address: who asked."),
    ("subject", "VARCHAR", "What was wanted, in a line."),
    ("method", "VARCHAR", "The HTTP method."),
    ("url", "VARCHAR", "The URL, without user, password or key."),
    ("host", "VARCHAR", "The host that was wanted."),
    ("port", "INTEGER", "Its port."),
    ("sni", "VARCHAR", "The server name of the TLS handshake."),
    ("decision", "VARCHAR", "allow, hold or deny."),
    ("rule", "VARCHAR", "The rule that decided."),
    ("reason", "VARCHAR", "Why it was held or denied."),
)
_CAUSE: Sequence[tuple[str, str, str]] = (
    ("step", "INTEGER", "The run's step that was going on."),
    ("tool", "VARCHAR", "The tool call that was open then."),
    ("call", "VARCHAR", "That call's id."),
    ("since", "TIMESTAMP", "When that call began, UTC."),
)
_OUTCOME: Sequence[tuple[str, str, str]] = (
    ("result", "VARCHAR", "How it ended; empty as long as nothing is recorded."),
    ("status", "INTEGER", "The HTTP status."),
    ("bytes_out", "BIGINT", "Bytes from the sandbox to the world."),
    ("bytes_in", "BIGINT", "Bytes from the world to the sandbox."),
    ("request_sha256", "VARCHAR", "SHA-256 of what was sent, up to `hashed_bytes`."),
    ("response_sha256", "VARCHAR", "SHA-256 of what came back, up to `hashed_bytes`."),
    ("hashed_bytes", "BIGINT", "So much of each body is in its hash."),
    ("ms", "DOUBLE", "How long it took, milliseconds."),
)

COLUMNS: Sequence[Column] = (
    Column(
        "seq", "BIGINT", "decided", "Number of the decision's line in the log; lines count from 1."
    ),
    Column("decided_at", "TIMESTAMP", "decided", "When it was decided, UTC.", "at"),
    *(Column(name, kind, "decided", meaning) for name, kind, meaning in _DECIDED),
    Column("target", "VARCHAR", "both", "The address that was dialled."),
    *(Column(name, kind, "both", says, f"cause.{name}") for name, kind, says in _CAUSE),
    Column("detail", "JSON", "decided", "More facts of the decision."),
    Column("ended_at", "TIMESTAMP", "outcome", "When the outcome was recorded, UTC.", "at"),
    *(Column(name, kind, "outcome", meaning) for name, kind, meaning in _OUTCOME),
    Column("outcome_detail", "JSON", "outcome", "More facts of the outcome.", "detail"),
)
"""Every column, in its order."""
NAMES: Sequence[str] = tuple(column.name for column in COLUMNS)
