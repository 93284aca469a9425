"""What a tool answered, within bounds [pure].

Text is cut at the limit with a word about what is missing. What can't be cut (images, sounds, files,
structured content) is left out whole when it no longer fits.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from entrance.mcp.messages import Json

_BLOBS = 30
"""So many times the text's limit may binary content be large: models take pictures by another measure."""


def text_result(text: str, *, is_error: bool = False) -> dict[str, Any]:
    """A tool's result that is text."""
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


def size_of(result: Json) -> int:
    """How many characters of text a result has."""
    return sum(len(part.get("text", "")) for part in _parts(result) if _is_text(part))


def bounded(result: Json, chars: int) -> dict[str, Any]:
    """The result with at most `chars` characters of text, and only what fits of the rest."""
    whole, left, blobs = size_of(result), chars, chars * _BLOBS
    content: list[Any] = []
    for part in _parts(result):
        if _is_text(part):
            content.append(_cut(part, left, (chars, whole)))
            left = max(0, left - len(part["text"]))
            continue
        size = len(orjson.dumps(part))
        content.append(part if size <= blobs else _left_out(part, size))
        blobs -= size if size <= blobs else 0
    bound = {**result, "content": [part for part in content if part is not None]}
    structured = result.get("structuredContent")
    if structured is not None and len(orjson.dumps(structured)) > chars:
        del bound["structuredContent"]
    return bound


def _cut(part: Mapping[str, Any], left: int, told: tuple[int, int]) -> Mapping[str, Any] | None:
    text = part["text"]
    if len(text) <= left:
        return part
    if not left:
        return None
    chars, whole = told
    mark = f"\n[cut here by Sandgate: {chars} of {whole} characters are shown; ask for less]"
    return {**part, "text": text[:left] + mark}


def _left_out(part: Mapping[str, Any], size: int) -> Mapping[str, Any]:
    kind = str(part.get("type"))[:40]
    return {"type": "text", "text": f"[{kind} of {size} bytes left out by Sandgate: too large]"}


def _parts(result: Json) -> list[Mapping[str, Any]]:
    content = result.get("content")
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def _is_text(part: Mapping[str, Any]) -> bool:
    return part.get("type") == "text" and isinstance(part.get("text"), str)
