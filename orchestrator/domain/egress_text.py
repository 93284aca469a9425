"""Reads the policies that people write, in YAML [pure]. What is wrong is said with its item and line."""

import re
from ipaddress import ip_network
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    ValidationError,
    model_validator,
)

from orchestrator.domain.egress import (
    METHODS,
    READING,
    WEB_PORTS,
    Ceiling,
    Ground,
    Policy,
    Unreadable,
)
from orchestrator.domain.policy_text import EXACTLY, Size, first_fault, read_text
from proxy.hosts import canonical_pattern
from proxy.policy import Limits, Mode, Rule

KIND = "the egress policy"
MOST_RULES = 500
_PATH = re.compile(r"/[!-~]*")


def policy_of(text: str, item: str) -> Policy | Unreadable:
    """The policy in the text of `item`; an empty text is an empty policy, which allows nothing."""
    read = read_text(_Policy, text, item, KIND)
    return read if isinstance(read, Unreadable) else read.policy()


def ground_of(text: str, item: str) -> Ground | Unreadable:
    """An installation's policy, with its ceiling."""
    read = read_text(_Ground, text, item, KIND)
    return read if isinstance(read, Unreadable) else Ground(read.policy(), read.ceiling.ceiling())


def rules_of_shapes(shapes: Any, where: str) -> tuple[Rule, ...]:
    """Rules from data that YAML was read into already. Raises: ValueError."""
    try:
        return _Policy.model_validate({"rules": shapes}).policy().rules
    except ValidationError as error:
        raise ValueError(f"{where}: {first_fault(error)[1]}") from error


def _path(text: str) -> str:
    if not _PATH.fullmatch(text) or {".", ".."} & set(text.split("/")) or {"?", "#"} & set(text):
        raise ValueError("a path begins with / and has no blanks, dot segments, query or fragment")
    return text


def _network(text: str) -> str:
    return str(ip_network(text))


Host = Annotated[str, AfterValidator(canonical_pattern)]
Network = Annotated[str, AfterValidator(_network)]
Scheme = Literal["https", "http"]
Path = Annotated[str, AfterValidator(_path)]
Port = Annotated[int, Field(ge=1, le=65535)]
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,62}$")]
Method = Literal["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"]
Type = Annotated[str, Field(pattern=r"^[a-z0-9.+-]+/(\*|[a-z0-9.+-]+)$", max_length=100)]


class _Shape(BaseModel):
    model_config = EXACTLY


class _Rule(_Shape):
    """As people write a rule. One that forbids or holds is about everything that it doesn't name."""

    host: Host
    name: Name | None = None
    methods: Annotated[list[Method], Field(min_length=1)] | None = None
    paths: Annotated[list[Path], Field(min_length=1)] = ["/**"]
    ports: Annotated[list[Port], Field(min_length=1)] | None = None
    schemes: Annotated[list[Scheme], Field(min_length=1)] | None = None
    mode: Literal["allow", "hold", "deny"] = "allow"
    splice: bool = False
    upgrade: bool = False
    max_bytes: Size | None = None
    types: list[Type] = []
    networks: list[Network] = []

    @model_validator(mode="after")
    def _means_something(self) -> Self:
        self.rule()
        return self

    def rule(self) -> Rule:
        opens = self.mode == "allow"
        name = self.host.replace("*.", "any.").replace("*", "any")
        schemes: list[Scheme] = ["https"] if opens else ["https", "http"]
        return Rule(
            name=self.name or name,
            host=self.host,
            mode=Mode(self.mode),
            methods=frozenset(self.methods or (READING if opens else METHODS)),
            paths=tuple(self.paths),
            ports=frozenset(self.ports or ()),
            schemes=frozenset(self.schemes or schemes),
            splice=self.splice and opens,
            upgrade=self.upgrade and opens,
            max_bytes=self.max_bytes,
            types=frozenset(self.types),
            networks=tuple(self.networks),
        )


class _Limits(_Shape):
    requests: Annotated[int, Field(ge=1)] | None = None
    bytes: Size | None = None


class _Policy(_Shape):
    presets: list[Name] = []
    rules: Annotated[list[_Rule], Field(max_length=MOST_RULES)] = []
    limits: _Limits = _Limits()

    def policy(self) -> Policy:
        return Policy(
            presets=tuple(self.presets),
            rules=tuple(one.rule() for one in self.rules),
            limits=Limits(requests=self.limits.requests, bytes=self.limits.bytes),
        )


class _Ceiling(_Shape):
    hosts: list[Host] = []
    methods: list[Method] = []
    ports: list[Port] = sorted(WEB_PORTS)
    splice: bool = False
    upgrade: bool = False

    def ceiling(self) -> Ceiling:
        methods, ports = frozenset(self.methods), frozenset(self.ports)
        return Ceiling(tuple(self.hosts), methods, ports, self.splice, self.upgrade)


class _Ground(_Policy):
    ceiling: _Ceiling = _Ceiling()
