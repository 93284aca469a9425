"""What agents and people wrote, as it may stand in the Markdown of a git host [pure].

Whatever it says, it is shown as it was written: it makes no headings, links, tables or code, mentions
nobody, refers to no issue and closes none, and is no command of GitLab's. Hosts look for some of that
in the text as it is and for some in what it is rendered to, so what must not be read is broken by a
character of no width, and not only escaped.
"""

import re
import unicodedata

BREAK = "\u200b"
"""A space of no width: nothing is found across it, and nobody sees it."""

CUT = "[...]"
_LOOKED_AT = 4
"""Of a text without end, that many times as much is read as may be shown: some of it can't be seen."""
_WORDS = (
    "close|closes|closed|closing|fix|fixes|fixed|fixing|resolve|resolves|resolved|resolving"
    "|implement|implements|implemented|implementing|reopen|reopens|reopened|reopening"
)
_CLOSING = re.compile(rf"\b(?:{_WORDS})\b(?=[\s:]*(?:issues?\b|\S*[\d#!/]))", re.IGNORECASE)
"""GitHub's, GitLab's and Gitea's words before what could be an issue. What refers to one is broken too."""
_PLAIN = re.compile(r"[A-Za-z0-9._/:+-]+")
_MARKS = re.compile(r"[\\`*_{}\[\]()#+!|~$^=%:-]")
_SIGNS = re.compile(r"(\\?[@#!~%$^]|&amp;)(?=\S)")
"""What begins a mention or a reference somewhere: users, issues, merge requests, labels, epics."""
_TRACKED = re.compile(r"\b([A-Za-z][A-Za-z0-9]*)(\\?-)(?=\d)")
"""`GH-7`, `ABC-7`: an issue of GitHub's, or of a tracker beside it."""
_PLACES = re.compile(r"(\\?:)(?=//)|(?<=\b[Ww]{3})\.(?=\S)")
_NUMBERED = re.compile(r"^(\d+)([.)])")
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})


def inline(text: str, longest: int) -> str:
    """One line of escaped text, at most `longest` characters of what was written."""
    return _escaped(_cut(_flat(text[: _LOOKED_AT * longest]), longest))


def code(text: str, longest: int = 300) -> str:
    """A name as code, so that it can be copied; escaped, if it has more in it than names have."""
    return f"`{text}`" if _PLAIN.fullmatch(text) and len(text) <= longest else inline(text, longest)


def title(text: str, longest: int) -> str:
    """One line for where a host knows no Markdown, and may look for references all the same."""
    flat = _cut(_flat(text[: _LOOKED_AT * longest]), longest)
    flat = _CLOSING.sub(lambda found: found[0][0] + BREAK + found[0][1:], flat)
    return re.sub(r"([@#!&])(?=\S)", rf"\1{BREAK}", flat)


def block(text: str, longest: int) -> str:
    """Text as a quotation, line by line as it was written; empty when there is none."""
    looked_at = text[: _LOOKED_AT * longest].expandtabs(4)
    lines = [_visible(line) for line in looked_at.splitlines()]
    whole = "\n".join(line.rstrip() for line in lines).strip("\n")
    if not whole.strip():
        return ""
    return "\n".join(_quoted(line) for line in _cut(whole, longest).split("\n"))


def _quoted(line: str) -> str:
    words = line.lstrip(" ")
    if not words:
        return ">"
    # Blanks that Markdown knows would make it code; two at the end keep the line's own end.
    indent = "\u00a0" * min(len(line) - len(words), 40)
    return f"> {indent}{_escaped(words)}  "


def _escaped(text: str) -> str:
    text = _CLOSING.sub(lambda found: found[0][0] + BREAK + found[0][1:], text)
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = _MARKS.sub(lambda found: f"\\{found[0]}", text)
    text = _NUMBERED.sub(r"\1\\\2", text)
    text = _SIGNS.sub(rf"\1{BREAK}", text)
    text = _TRACKED.sub(rf"\1\2{BREAK}", text)
    text = _PLACES.sub(lambda found: found[0] + BREAK, text)
    return BREAK + text if text.startswith("/") else text


def _flat(text: str) -> str:
    return " ".join(_visible(" ".join(text.split())).split())


def _visible(text: str) -> str:
    """Without what can't be seen: controls, marks that turn the writing round, half characters."""
    return "".join(
        " " if unicodedata.category(one) in {"Zl", "Zp"} else one
        for one in text
        if unicodedata.category(one) not in _HIDDEN
    )


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest].rstrip()} {CUT}"
