"""Rich texts as plain ones [pure]. Markup is dropped, never interpreted; any input is read in linear time.

Not with the standard library's HTML parser: crafted texts keep that busy for minutes, and a long
character reference makes it raise.
"""

import html
import re
from collections.abc import Mapping
from typing import Any

from orchestrator.adapters.polarion.resources import Text

_TAG = re.compile(r"/?[a-zA-Z][a-zA-Z0-9]{0,20}")
_REFERENCE = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
_BLANK = re.compile(r"\s+")
_HREF = re.compile(r"""\shref\s?=\s?(?:"(https?://[^"]*)"|'(https?://[^']*)')""", re.IGNORECASE)
_BLOCKS = frozenset(
    {"p", "br", "hr", "div", "ul", "ol", "li", "table", "tr", "pre", "blockquote"}
    | {"h1", "h2", "h3", "h4", "h5", "h6", "section", "article"}
)
_CELLS = frozenset({"td", "th"})
_UNSEEN = frozenset({"script", "style"})


def plain(text: Text) -> str:
    """A rich text as people read it: lines, cells set apart, addresses of links, code as it is."""
    return _without_markup(text.value) if text.type == "text/html" else text.value


def rich(fields: Mapping[str, Any], name: str) -> Text:
    """A custom field as a rich text; an empty one when it is none."""
    value = fields.get(name)
    return value if isinstance(value, Text) else Text(value if isinstance(value, str) else "")


def _without_markup(source: str) -> str:
    page, at = _Page(), 0
    while (start := source.find("<", at)) >= 0:
        page.write(source[at:start])
        at = _past(source, start, page)
        if at < 0:  # it never ends: nothing of it is text
            return page.finished()
    page.write(source[at:])
    return page.finished()


def _past(source: str, start: int, page: "_Page") -> int:
    """Where the markup (or the mere `<`) at `start` is over; -1 when it never is."""
    if source.startswith("<!--", start):
        return _end(source, "-->", start + 4)
    if source.startswith(("<!", "<?"), start):
        return _end(source, ">", start)
    tag = _TAG.match(source, start + 1)
    if tag is None:
        page.write("<")
        return start + 1
    end = _end(source, ">", tag.end())
    if end < 0:
        return end
    name = tag.group().lower()
    if name in _UNSEEN:
        closing = re.compile(f"</{name}", re.IGNORECASE).search(source, end)
        return _end(source, ">", closing.end()) if closing else -1
    page.tag(name, source[tag.end() : end])
    return end


def _end(source: str, mark: str, start: int) -> int:
    found = source.find(mark, start)
    return found + len(mark) if found >= 0 else -1


def _unescaped(text: str) -> str:
    return _REFERENCE.sub(lambda found: html.unescape(found.group()), text)


class _Page:
    """Lines as they come about."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._line: list[str] = []
        self._filled = False
        self._verbatim = False
        self._address = ""
        self._words = 0
        """Where in the line the words of an open link begin."""

    def write(self, source: str) -> None:
        text = _unescaped(source)
        if not self._verbatim:
            self._add(_BLANK.sub(" ", text))
            return
        first, *others = text.split("\n")
        self._add(first)
        for other in others:
            self._break(keep_empty=True)
            self._add(other)

    def tag(self, name: str, attributes: str) -> None:
        kind = name.removeprefix("/")
        if kind in _BLOCKS:
            self._break()
        if kind == "pre":
            self._verbatim = name == "pre"
        elif name == "li":
            self._line.append("- ")
        elif name in _CELLS and self._filled:
            self._line.append(" | ")
        elif name == "a":
            href = _HREF.search(attributes)
            self._address = _unescaped(href[1] or href[2]) if href else ""
            self._words = len(self._line)
        elif name == "/a":
            self._close_link()

    def finished(self) -> str:
        self._break()
        return "\n".join(self._lines).strip("\n")

    def _add(self, text: str) -> None:
        self._line.append(text)
        self._filled = self._filled or bool(text.strip())

    def _break(self, *, keep_empty: bool = False) -> None:
        line = "".join(self._line).rstrip()
        self._line.clear()
        self._filled = False
        if not self._verbatim:
            line = line.strip()
        if line or keep_empty:
            self._lines.append(line)

    def _close_link(self) -> None:
        """A link's address follows it, where it says more than the words do."""
        address, self._address = self._address, ""
        if address and address != "".join(self._line[self._words :]).strip():
            self._line.append(f" ({address})")
