"""Asking for a place on the internet: what is wanted, the rule that would open it, and its test on
what was recorded [pure].
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal
from urllib.parse import urlsplit

from entrance.session import RunId
from orchestrator.domain.approval import Approval, ApprovalState
from orchestrator.domain.egress import METHODS, READING, rule_from, rule_json
from orchestrator.domain.kinds import EGRESS
from proxy.hosts import canonical_host
from proxy.paths import readings
from proxy.policy import Allow, Request, Rule, SandboxPolicy, decide, decide_tunnel
from proxy.rules import DEFAULT_PORTS

_ON_THE_WIRE = re.compile(r"[!-~]+")
LONGEST_URL = 2048
EVERYTHING = "/**"


@dataclass(frozen=True, slots=True)
class Wanted:
    """One request that an agent wants to make, or every one of a kind to a host (no `target`)."""

    method: str
    scheme: str
    host: str
    port: int
    target: str = ""

    @property
    def origin(self) -> str:
        """Scheme, host, and the port where it isn't the scheme's own."""
        port = "" if DEFAULT_PORTS[self.scheme] == self.port else f":{self.port}"
        return f"{self.scheme}://{self.host}{port}"

    @property
    def url(self) -> str:
        """As people read it."""
        return self.origin + (self.target or EVERYTHING)

    @property
    def title(self) -> str:
        """In a line."""
        return f"{self.method} {self.url}"


def wanted(place: str, method: str) -> Wanted:
    """What a URL, or a host alone, asks for. Raises: ValueError, in a sentence for an agent."""
    if method not in METHODS:
        raise ValueError(f"{method[:20]} can't be asked for, only {', '.join(sorted(METHODS))}")
    if len(place) > LONGEST_URL:
        raise ValueError(f"a URL has at most {LONGEST_URL} characters")
    if not _ON_THE_WIRE.fullmatch(place):
        raise ValueError("a URL is ASCII without blanks; other characters go in their encoded form")
    if "://" not in place:
        return Wanted(method, "https", canonical_host(place), DEFAULT_PORTS["https"])
    parts = urlsplit(place)
    if parts.scheme not in DEFAULT_PORTS or "@" in parts.netloc or parts.fragment:
        raise ValueError("only an http or https URL without a user or fragment can be asked for")
    path = parts.path or "/"
    if any("*" in one for one in readings(path)):
        raise ValueError("a URL with an asterisk in its path can't be asked for: ask for the host")
    query = f"?{parts.query}" if parts.query else ""
    port = DEFAULT_PORTS[parts.scheme] if parts.port is None else parts.port
    if not port:
        raise ValueError("0 is no port")
    host = canonical_host(parts.hostname or "")
    return Wanted(method, parts.scheme, host, port, path + query)


def wanted_json(one: Wanted) -> dict[str, Any]:
    """As the item keeps it."""
    return {
        "method": one.method,
        "scheme": one.scheme,
        "host": one.host,
        "port": one.port,
        "target": one.target,
        "url": one.url,
    }


def wanted_from(data: Mapping[str, Any]) -> Wanted:
    """The reverse. Raises: KeyError."""
    return Wanted(data["method"], data["scheme"], data["host"], data["port"], data["target"])


def item_id(run: RunId, kind: str, exact: str, turn: int) -> str:
    """The id of the item for a run's wish: the same wish is the same item, however often it comes."""
    digest = hashlib.sha256(f"{run}\n{kind}\n{exact}\n{turn}".encode()).digest()
    number, text = int.from_bytes(digest[:12]), ""
    while len(text) < ID_LENGTH:
        number, digit = divmod(number, len(ALPHABET))
        text += ALPHABET[digit]
    return text


ID_LENGTH = 15
ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"


@dataclass(frozen=True, slots=True)
class Edits:
    """What a person changes of the wish before it is allowed."""

    host: str = ""
    paths: tuple[str, ...] = ()
    arguments: Mapping[str, Any] | None = None
    """Of a tool call: these in place of its own."""
    bounds: Mapping[str, Any] | None = None
    """Of a rule for tool calls: the JSON Schema that arguments have to fit; None: these very ones."""
    mode: Literal["read", "write", "approval"] | None = None
    """Of a tool that is asked for: as what it is granted; None: `write`."""


def rule_of(item: str, one: Wanted, edits: Edits, *, once: bool = False) -> Rule:
    """The rule that lets the wish through, as far as it was edited. Raises: ValueError.

    A path is opened in every reading that a server may have of it, and nothing else is. What is
    allowed once is the very request, its query too.
    """
    path, _, query = one.target.partition("?")
    paths = edits.paths or (tuple(sorted(readings(path))) if path else (EVERYTHING,))
    return Rule(
        name=f"approval/{item}",
        host=edits.host or one.host,
        methods=READING if one.method in READING else frozenset({one.method}),
        paths=paths,
        query=query if once and path and not edits.paths else None,
        ports=frozenset({one.port}),
        schemes=frozenset({"http" if one.scheme == "http" else "https"}),
        approval=item,
        uses=1 if once else None,
    )


def approved_rules(items: Iterable[Approval]) -> list[Rule]:
    """The rules of items that are in force; one that can't be read opens nothing."""
    found = []
    for item in items:
        if item.kind != EGRESS:
            continue
        try:
            found.append(rule_from(item.granted))
        except (ValueError, TypeError, KeyError):
            continue
    return found


def granted_of(rule: Rule) -> dict[str, Any]:
    """A rule as the item keeps it."""
    return rule_json(rule)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One recorded try to reach the internet: what was asked, and what it was answered then.

    A tunnel (CONNECT) that was refused says no more than where it was to lead: its URL ends there.
    """

    at: datetime
    method: str
    url: str
    decision: str
    run: str = ""
    agent: str = ""
    project: str = ""
    tunnel: bool = False


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """One recorded tool call that was held, or not granted: of which tool, with what, as far as kept."""

    at: datetime
    connection: str
    tool: str
    sha256: str
    arguments: Mapping[str, Any] | None
    """None: they were too long, or held a secret, and were not kept whole."""
    run: str = ""
    held: bool = True
    """Else it was refused, as its tool was not granted."""


@dataclass(frozen=True, slots=True)
class BackTest:
    """What a rule would have let through of what was recorded and didn't get through."""

    would_allow: int
    denied_by_people: int
    """Of these, those that a person had denied when they were asked for."""
    runs: int
    """Of so many runs."""
    hosts: Mapping[str, int] = field(default_factory=dict)
    """By host (of tool calls: by connection and tool), the most frequent ones."""
    untold: int = 0
    """So many more of the same tool were recorded without what has to be known to tell."""


@dataclass
class Tally:
    """What a rule that is tried on the record lets through."""

    hosts: Counter[str] = field(default_factory=Counter)
    runs: set[str] = field(default_factory=set)
    person: int = 0
    untold: int = 0

    def lets(self, place: str, run: str, *, denied: bool) -> None:
        """One more."""
        self.hosts[place] += 1
        self.runs.add(run)
        self.person += denied

    @property
    def result(self) -> BackTest:
        most = dict(self.hosts.most_common(HOSTS_TOLD))
        return BackTest(self.hosts.total(), self.person, len(self.runs), most, self.untold)


HOSTS_TOLD = 10
_NOBODY = "0.0.0.0"  # noqa: S104 - nothing listens there


def back_test(rule: Rule, attempts: Iterable[Attempt], items: Sequence[Approval]) -> BackTest:
    """Try a rule on what was recorded."""
    alone = SandboxPolicy(
        run="", address=_NOBODY, token_sha256="0" * 64, rules=(replace(rule, uses=None),)
    )
    denied = [item.wanted for item in items if item.state is ApprovalState.DENIED]
    requests = {(one.get("method"), one.get("url")) for one in denied}
    hosts_denied = {one.get("host") for one in denied}
    tally = Tally()
    for one in attempts:
        if one.decision == "allow" or not _lets(alone, one):
            continue
        host = urlsplit(one.url).hostname or ""
        asked = host in hosts_denied if one.tunnel else (one.method, one.url) in requests
        tally.lets(host, one.run, denied=asked)
    return tally.result


def _lets(policy: SandboxPolicy, one: Attempt) -> bool:
    try:
        request = Request.to(one.url, one.method)
        if one.tunnel:
            return isinstance(decide_tunnel(request.host, request.port, policy), Allow)
        return isinstance(decide(request, policy), Allow)
    except ValueError:
        return False
