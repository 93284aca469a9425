"""Markdown, as the pages need it [pure]."""

from collections.abc import Iterable, Sequence

MADE = "<!-- Made by `make docs` from the code. Change the code, not this page. -->"


def page(title: str, *parts: str) -> str:
    """A whole page: title, the note that it is made, and its parts with a blank line between."""
    return "\n\n".join([f"# {title}", MADE, *(part.strip("\n") for part in parts if part)]) + "\n"


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; no rows, no table."""
    lines = [_row(row) for row in rows]
    if not lines:
        return ""
    return "\n".join([_row(columns), "|" + "---|" * len(columns), *lines])


def code(text: object) -> str:
    """Text as code; nothing for nothing."""
    return f"`{text}`" if str(text) else ""


def fence(language: str, text: str) -> str:
    """A block of code."""
    return f"```{language}\n{text}\n```"


def states(edges: Iterable[tuple[str, str, str]]) -> str:
    """A mermaid state diagram of (from, to, label); `[*]` is where it begins and ends."""
    lines = [f"  {source} --> {target}{_label(label)}" for source, target, label in edges]
    return fence("mermaid", "\n".join(["stateDiagram-v2", *lines]))


def _label(text: str) -> str:
    return f": {text}" if text else ""


def _row(cells: Sequence[object]) -> str:
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |"


def _cell(cell: object) -> str:
    return " ".join(str(cell).split()).replace("|", "\\|")
