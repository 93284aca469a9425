"""Filters of PocketBase's list requests, built from values [pure]."""

from typing import Literal

Operator = Literal["=", "!=", ">", ">=", "<", "<="]
Condition = tuple[str, Operator, str | int]


def where(*conditions: Condition) -> str:
    """The filter that all `conditions` (field, operator, value) hold; empty for none.

    Raises: ValueError for text that no filter can carry: NUL ends it, a lone surrogate isn't UTF-8.
    """
    return " && ".join(
        f"{field} {operator} {_literal(value)}" for field, operator, value in conditions
    )


def _literal(value: str | int) -> str:
    if isinstance(value, int):
        return str(int(value))
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise ValueError(f"{value!r} can't be asked for: it holds NUL or half a character")
    # Backslashes first: the scanner reads \\ as one backslash and \' as a quote.
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
