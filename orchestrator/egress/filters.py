"""Which attempts are wanted: the same filter for a table and for a line that was just written [pure]."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

_AGO = re.compile(r"([0-9]{1,6})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


@dataclass(frozen=True, slots=True)
class Filter:
    """Empty lets everything pass; of several values one must fit, of several fields all must."""

    run: Sequence[str] = ()
    task: Sequence[str] = ()
    agent: Sequence[str] = ()
    door: Sequence[str] = ()
    decision: Sequence[str] = ()
    host: Sequence[str] = ()
    """Each with everything below it: `a.example` also means `x.a.example`, and not `ba.example`."""
    connection: Sequence[str] = ()
    """Tool calls at these connections."""
    tool: Sequence[str] = ()
    """Calls of these tools, at whichever connection; each by its connection's own name."""
    since: datetime | None = None
    until: datetime | None = None
    """Up to then, and not then itself."""

    def where(self) -> tuple[str, list[Any]]:
        """The condition in SQL over `attempts`, and its parameters."""
        said, values = ["true"], list[Any]()
        for column, wanted in self._equal().items():
            if wanted:
                said.append(f"{column} IN ({', '.join('?' * len(wanted))})")
                values.extend(wanted)
        if self.host:
            said.append(f"({' OR '.join(_BELOW for _ in self.host)})")
            values.extend(value for one in self.host for value in (_host(one), f".{_host(one)}"))
        if self.connection:
            said.append(f"door = 'mcp' AND ({' OR '.join(_AT for _ in self.connection)})")
            values.extend(f"{one}/" for one in self.connection)
        if self.tool:
            said.append(f"kind = 'tool_call' AND ({' OR '.join(_OF for _ in self.tool)})")
            values.extend(value for one in self.tool for value in (one, f"/{one}"))
        for sign, moment in ((">=", self.since), ("<", self.until)):
            if moment:
                said.append(f"decided_at {sign} ?")
                values.append(moment.astimezone(UTC).replace(tzinfo=None))
        return " AND ".join(said), values

    def fits(self, line: Mapping[str, Any]) -> bool:
        """Whether a `decided` line is wanted."""
        equal = all(
            not wanted or line.get(field) in wanted for field, wanted in self._equal().items()
        )
        of_place = self._fits_host(line) and self._fits_connection(line) and self._fits_tool(line)
        return equal and of_place and self._fits_time(line)

    def _equal(self) -> Mapping[str, Sequence[str]]:
        return {
            "run": self.run,
            "task": self.task,
            "agent": self.agent,
            "door": self.door,
            "decision": self.decision,
        }

    def _fits_host(self, line: Mapping[str, Any]) -> bool:
        host = str(line.get("host", ""))
        return not self.host or any(
            host == _host(one) or host.endswith(f".{_host(one)}") for one in self.host
        )

    def _fits_connection(self, line: Mapping[str, Any]) -> bool:
        subject = str(line.get("subject", ""))
        return not self.connection or (
            line.get("door") == "mcp" and any(subject.startswith(f"{c}/") for c in self.connection)
        )

    def _fits_tool(self, line: Mapping[str, Any]) -> bool:
        subject = str(line.get("subject", ""))
        return not self.tool or (
            line.get("kind") == "tool_call"
            and any(subject == one or subject.endswith(f"/{one}") for one in self.tool)
        )

    def _fits_time(self, line: Mapping[str, Any]) -> bool:
        if self.since is None and self.until is None:
            return True
        at = time_of(line)
        if at is None:
            return False
        return (self.since is None or at >= self.since) and (self.until is None or at < self.until)


_BELOW = "(host = ? OR ends_with(host, ?))"
_AT = "starts_with(subject, ?)"
_OF = "(subject = ? OR ends_with(subject, ?))"


def time_of(line: Mapping[str, Any]) -> datetime | None:
    """When a line was written; None when it doesn't say so."""
    try:
        return datetime.fromisoformat(str(line.get("at", ""))).astimezone(UTC)
    except ValueError:
        return None


def moment(text: str, now: datetime) -> datetime:
    """A moment as people write it: `90s`, `15m`, `2h`, `7d`, `4w` ago, or ISO 8601 (UTC unless it says).

    Raises: ValueError.
    """
    if found := _AGO.fullmatch(text):
        return now - timedelta(**{_UNITS[found[2]]: int(found[1])})
    read = datetime.fromisoformat(text)
    return read.astimezone(UTC) if read.tzinfo else read.replace(tzinfo=UTC)


def _host(text: str) -> str:
    return text.lower().removeprefix("*.").strip(".")
