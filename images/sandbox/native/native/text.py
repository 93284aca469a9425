"""Text of any origin made fit for JSON, for a model and for a person's terminal."""

import re
from typing import Any

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def readable(data: bytes) -> str:
    """Bytes as text: what is not UTF-8 becomes U+FFFD, terminal control goes."""
    text = _ESCAPES.sub("", data.decode("utf-8", "replace"))
    return _CONTROLS.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def clean(value: Any) -> Any:
    """A JSON value whose texts hold no half of a surrogate pair (readers refuse those)."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {clean(key): clean(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [clean(item) for item in value]
    return value


def shortened(value: Any, limit: int) -> Any:
    """A JSON value in which no text is longer than `limit` characters (and a note)."""
    if isinstance(value, str):
        if len(value) <= limit:
            return value
        return f"{value[:limit]}[... {len(value) - limit} more characters]"
    if isinstance(value, dict):
        return {key: shortened(item, limit) for key, item in value.items()}
    if isinstance(value, list):
        return [shortened(item, limit) for item in value]
    return value


def middle_out(text: str, limit: int) -> str:
    """A text of `limit` characters at most, and a note in the place of what was in the middle."""
    if len(text) <= limit:
        return text
    head = limit // 3
    left_out = len(text) - limit
    return f"{text[:head]}\n[... {left_out} characters left out ...]\n{text[head + left_out :]}"
