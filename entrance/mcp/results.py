"""What a tool answered, within bounds [pure].

What is too large to be told goes into files in the sandbox, where there is somebody to write them; the
result has its beginning, how large it is, and where it lies. Else text is cut at the limit with a word about
what is missing, and what can't be cut (images, sounds, files, structured content) is left out whole.
"""

import base64
import binascii
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from entrance.mcp.messages import Json

_BLOBS = 30
"""So many times the text's limit may binary content be large: models take pictures by another measure."""
BEGINNING = 5
"""Of a text that goes into a file, this part of the limit is shown."""
TEXT, STRUCTURED = "text", "structured"
_EXTENSIONS: Mapping[str, str] = {
    "application/json": "json",
    "application/pdf": "pdf",
    "application/xml": "xml",
    "application/zip": "zip",
    "audio/mpeg": "mp3",
    "audio/ogg": "ogg",
    "audio/wav": "wav",
    "image/gif": "gif",
    "image/jpeg": "jpg",
    "image/png": "png",
    "image/svg+xml": "svg",
    "image/webp": "webp",
    "text/csv": "csv",
    "text/html": "html",
    "text/markdown": "md",
    "text/xml": "xml",
}
"""By a media type; what isn't here is `txt` or `bin`. A server's own names of files are never used."""

type Place = str | int
"""What of a result it is: all its `TEXT`, its `STRUCTURED` content, or a part by its number."""


@dataclass(frozen=True, slots=True)
class Overlong:
    """What is too large to be told, as a file."""

    content: bytes
    extension: str


@dataclass(frozen=True, slots=True)
class Kept:
    """What became of it: where it lies, or why it doesn't. `cut`: so many bytes of it are there."""

    path: str = ""
    why: str = ""
    cut: int = 0

    @property
    def words(self) -> str:
        if not self.path:
            return f"it could not be written to a file: {self.why}"
        return f"its first {self.cut} bytes are in {self.path}" if self.cut else self.path


def text_result(text: str, *, is_error: bool = False) -> dict[str, Any]:
    """A tool's result that is text."""
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


def in_words(result: Json) -> Json:
    """The result; one that has structured content only says it in words, too: some clients read no other."""
    structured = result.get("structuredContent")
    if structured is None or _parts(result):
        return result
    return {**result, "content": [{"type": "text", "text": orjson.dumps(structured).decode()}]}


def size_of(result: Json) -> int:
    """How many characters of text a result has."""
    return sum(len(part.get("text", "")) for part in _parts(result) if _is_text(part))


def fits(result: Json, chars: int) -> bool:
    """Whether nothing of a result can be too large: all of it as JSON is no longer than its text may be."""
    content = result.get("content")
    whole = isinstance(content, list) and len(_parts(result)) == len(content)
    return whole and len(orjson.dumps(result)) <= chars


def overlong(result: Json, chars: int) -> dict[Place, Overlong]:
    """All of a result that is too large to be told."""
    found: dict[Place, Overlong] = {}
    for number, part in _large(result, chars):
        if (file := _file_of(part)) is not None:
            found[number] = file
    text = _text_of(result) if size_of(result) > chars else ""
    if text:
        found[TEXT] = Overlong(text.encode("utf-8", "replace"), _extension_of(text))
    structured = _structured(result, chars)
    if structured and not _says_the_same(text, structured):
        found[STRUCTURED] = Overlong(structured, "json")
    return found


def bounded(result: Json, chars: int, kept: Mapping[Place, Kept] | None = None) -> dict[str, Any]:
    """The result with what fits, and a word about the rest. `kept`: what became of what is too large."""
    kept, large = kept or {}, dict(_large(result, chars))
    content = _texts(result, chars, kept.get(TEXT))
    for number, part in enumerate(_parts(result)):
        if number in large:
            content.append((number, _left_out(part, kept.get(number))))
        elif not _is_text(part):
            content.append((number, part))
    parts = [part for _, part in sorted(content, key=lambda pair: pair[0])]
    structured = _structured(result, chars)
    bound = {name: value for name, value in result.items() if name != "structuredContent"}
    if not structured and "structuredContent" in result:
        bound["structuredContent"] = result["structuredContent"]
    if structured and (where := kept.get(STRUCTURED)):
        parts.append(_note(f"structured content of {len(structured)} bytes: {where.words}"))
    return {**bound, "content": parts}


def _texts(result: Json, chars: int, kept: Kept | None) -> list[tuple[int, Mapping[str, Any]]]:
    """The parts that are text, by their numbers, as far as they are shown."""
    whole, shown = size_of(result), []
    left = chars // BEGINNING if kept and kept.path and whole > chars else chars
    for number, part in enumerate(_parts(result)):
        if not _is_text(part):
            continue
        if len(part["text"]) <= left:
            shown.append((number, part))
        elif left:
            shown.append((number, {**part, "text": part["text"][:left] + _cut(chars, whole, kept)}))
        left = max(0, left - len(part["text"]))
    return shown


def _cut(chars: int, whole: int, kept: Kept | None) -> str:
    if kept and kept.path:
        return f"\n[this is the beginning of {whole} characters; all of it: {kept.words}]"
    more = f"; {kept.words}" if kept else ""
    return f"\n[cut here by Sandgate: {chars} of {whole} characters are shown; ask for less{more}]"


def _large(result: Json, chars: int) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The parts that are no text, and too large beside those before them."""
    left = chars * _BLOBS
    for number, part in enumerate(_parts(result)):
        if _is_text(part):
            continue
        size = len(orjson.dumps(part))
        if size > left:
            yield number, part
        else:
            left -= size


def _left_out(part: Mapping[str, Any], kept: Kept | None) -> Mapping[str, Any]:
    kind, size = str(part.get("type"))[:40], len(orjson.dumps(part))
    if kept and kept.path:
        return _note(f"{kind} of {size} bytes: {kept.words}")
    more = f"; {kept.words}" if kept else ""
    return _note(f"{kind} of {size} bytes left out by Sandgate: too large{more}")


def _file_of(part: Mapping[str, Any]) -> Overlong | None:
    """An image, a sound or an embedded file, as a file; None for what is none."""
    held = part.get("resource") if part.get("type") == "resource" else part
    if not isinstance(held, Mapping):
        return None
    kind = str(held.get("mimeType")).partition(";")[0].strip().lower()
    if isinstance(text := held.get("text"), str):
        return Overlong(text.encode("utf-8", "replace"), _EXTENSIONS.get(kind, "txt"))
    data = held.get("blob") if part.get("type") == "resource" else held.get("data")
    try:
        text = "".join(data.split()) if isinstance(data, str) else ""
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return Overlong(content, _EXTENSIONS.get(kind, "bin")) if content else None


def _structured(result: Json, chars: int) -> bytes:
    """The structured content as JSON, where it is too large."""
    structured = result.get("structuredContent")
    text = b"" if structured is None else orjson.dumps(structured)
    return text if len(text) > chars else b""


def _says_the_same(text: str, structured: bytes) -> bool:
    """Whether the text is the structured content once more, as servers give it to older clients."""
    try:
        return bool(text) and orjson.loads(text) == orjson.loads(structured)
    except orjson.JSONDecodeError:
        return False


def _extension_of(text: str) -> str:
    try:
        return "json" if isinstance(orjson.loads(text), dict | list) else "txt"
    except orjson.JSONDecodeError:
        return "txt"


def _note(words: str) -> Mapping[str, Any]:
    return {"type": "text", "text": f"[{words}]"}


def _text_of(result: Json) -> str:
    return "\n".join(part["text"] for part in _parts(result) if _is_text(part))


def _parts(result: Json) -> list[Mapping[str, Any]]:
    content = result.get("content")
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def _is_text(part: Mapping[str, Any]) -> bool:
    return part.get("type") == "text" and isinstance(part.get("text"), str)
