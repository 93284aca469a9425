"""How attempts look in a terminal. What a sandbox wrote is data: `screen` lets no control byte pass."""

from collections.abc import Mapping
from typing import Any

from rich.text import Text

from orchestrator.cli.screen import one_line

MARKS: Mapping[str, tuple[str, str]] = {
    "allow": ("✓", "green"),
    "hold": ("⏸", "yellow"),
    "deny": ("✗", "red"),
}
UNKNOWN = ("?", "magenta")
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
_STEP = 1024
LONGEST_WHAT = 200


def amount(size_bytes: int | None) -> str:
    """A number of bytes as people read it; nothing for none."""
    if size_bytes is None:
        return ""
    value, unit = float(size_bytes), 0
    while value >= _STEP and unit < len(_UNITS) - 1:
        value, unit = value / _STEP, unit + 1
    return f"{value:.1f} {_UNITS[unit]}" if unit else f"{size_bytes} B"


def what(attempt: Mapping[str, Any]) -> str:
    """What was wanted, in a line: method and URL, or whatever else is known."""
    method, url, host = (str(attempt.get(name) or "") for name in ("method", "url", "host"))
    port = attempt.get("port")
    where = url or (f"{host}:{port}" if host and port else host)
    subject = str(attempt.get("subject") or attempt.get("sni") or attempt.get("target") or "")
    return f"{method} {where}".strip() if where else subject or str(attempt.get("kind") or "")


def decided_line(line: Mapping[str, Any]) -> Text:
    """One decision on a line."""
    decision = str(line.get("decision", ""))
    mark, style = MARKS.get(decision, UNKNOWN)
    why = " ".join(str(line.get(name) or "") for name in ("rule", "reason")).strip()
    who = " ".join(str(line.get(name) or "") for name in ("run", "agent")).strip()
    cause = line.get("cause")
    tool = cause.get("tool", "") if isinstance(cause, Mapping) else ""
    return Text.assemble(
        (f"{clock(line)} ", "dim"),
        (f"{mark} {one_line(decision) or '-':5} ", style),
        (f"{one_line(line.get('door', '')):8} ", "bold"),
        one_line(what(line), LONGEST_WHAT),
        (f"  {one_line(why)}" if why else "", style if decision != "allow" else "dim"),
        (f"  {one_line(who)}" if who else "", "cyan"),
        (f"  {one_line(tool)}" if tool else "", "blue"),
        (f"  #{one_line(line.get('seq', ''))}", "dim"),
    )


def outcome_line(line: Mapping[str, Any]) -> Text:
    """What came of a decision, on a line."""
    ms = line.get("ms")
    facts = (
        line.get("result"),
        line.get("status"),
        f"{amount(line['bytes_out'])} sent" if isinstance(line.get("bytes_out"), int) else "",
        f"{amount(line['bytes_in'])} got" if isinstance(line.get("bytes_in"), int) else "",
        f"{ms:.0f} ms" if isinstance(ms, int | float) else "",
    )
    told = ", ".join(one_line(fact) for fact in facts if fact)
    return Text(f"{clock(line)}   └ #{one_line(line.get('of', ''))} {told}", style="dim")


def own_line(line: Mapping[str, Any]) -> Text:
    """What the log says of itself, on a line."""
    kind = one_line(line.get("type", ""))
    style = "dim" if kind == "opened" else "bold red"
    return Text(f"{clock(line)} ■ {kind} {one_line(line.get('segment', ''))}".rstrip(), style=style)


def clock(line: Mapping[str, Any]) -> str:
    """The time of day of a line, UTC."""
    return one_line(str(line.get("at", ""))[11:19])
