"""Reads the policies that people write, in YAML [pure]. What is wrong is said with its item and line."""

import re
from collections.abc import Iterator
from ipaddress import ip_network
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
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
from proxy.hosts import canonical_pattern
from proxy.policy import Limits, Mode, Rule

LONGEST = 64 * 1024
"""Characters of a policy; a longer one isn't read at all."""
MOST_RULES = 500
_SIZE = re.compile(r"([0-9]{1,15}) ?(B|KiB|MiB|GiB|TiB)?")
_UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
_PATH = re.compile(r"/[!-~]*")


def policy_of(text: str, item: str) -> Policy | Unreadable:
    """The policy in the text of `item`; an empty text is an empty policy, which allows nothing."""
    read = _read(_Policy, text, item)
    return read if isinstance(read, Unreadable) else read.policy()


def ground_of(text: str, item: str) -> Ground | Unreadable:
    """An installation's policy, with its ceiling."""
    read = _read(_Ground, text, item)
    return read if isinstance(read, Unreadable) else Ground(read.policy(), read.ceiling.ceiling())


def rules_of_shapes(shapes: Any, where: str) -> tuple[Rule, ...]:
    """Rules from data that YAML was read into already. Raises: ValueError."""
    try:
        return _Policy.model_validate({"rules": shapes}).policy().rules
    except ValidationError as error:
        raise ValueError(f"{where}: {_first(error)[1]}") from error


def _path(text: str) -> str:
    if not _PATH.fullmatch(text) or {".", ".."} & set(text.split("/")) or {"?", "#"} & set(text):
        raise ValueError("a path begins with / and has no blanks, dot segments, query or fragment")
    return text


def _network(text: str) -> str:
    return str(ip_network(text))


def _size(value: object) -> object:
    found = _SIZE.fullmatch(value) if isinstance(value, str) else None
    return int(found[1]) * _UNITS[found[2] or "B"] if found else value


Host = Annotated[str, AfterValidator(canonical_pattern)]
Network = Annotated[str, AfterValidator(_network)]
Scheme = Literal["https", "http"]
Path = Annotated[str, AfterValidator(_path)]
Port = Annotated[int, Field(ge=1, le=65535)]
Size = Annotated[int, BeforeValidator(_size), Field(ge=1)]
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,62}$")]
Method = Literal["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"]
Type = Annotated[str, Field(pattern=r"^[a-z0-9.+-]+/(\*|[a-z0-9.+-]+)$", max_length=100)]


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


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


def _read[T: _Policy](shape: type[T], text: str, item: str) -> T | Unreadable:
    """The text as `shape`."""
    if len(text) > LONGEST:
        return Unreadable(f"{item}: the egress policy is longer than {LONGEST} characters")
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        trouble = next(_ambiguous(root, set()), None) if root else None
        data = yaml.safe_load(text) if trouble is None else None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        return Unreadable(f"{item}, line {_line_of(error)}: the egress policy is no YAML")
    if trouble is not None:
        return Unreadable(f"{item}, line {trouble[0]}: {trouble[1]}")
    try:
        return shape.model_validate({} if data is None else data)
    except ValidationError as error:
        place, why = _first(error)
        return Unreadable(f"{item}, line {_line(root, place)}: {why}")


def _ambiguous(node: yaml.Node, seen: set[int]) -> Iterator[tuple[int, str]]:
    """Where the text can be read in two ways, or is more than it looks: keys twice, aliases."""
    if id(node) in seen:
        yield node.start_mark.line + 1, "an egress policy has no aliases"
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for one in node.value:
            yield from _ambiguous(one, seen)
    elif isinstance(node, yaml.MappingNode):
        keys: set[str] = set()
        for key, value in node.value:
            if key.value in keys or key.tag.endswith(":merge"):
                yield key.start_mark.line + 1, f"{key.value!s:.60} is there twice, or merged"
            keys.add(str(key.value))
            yield from _ambiguous(value, seen)


def _first(error: ValidationError) -> tuple[tuple[int | str, ...], str]:
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    place = first["loc"]
    said = first["msg"].removeprefix("Value error, ")
    return place, f"{'.'.join(str(part) for part in place) or 'the policy'}: {said}"


def _line(root: yaml.Node | None, place: tuple[int | str, ...]) -> int:
    """In which line of the text a place is, as exactly as the text has it."""
    line, node = 1, root
    for part in place:
        if isinstance(node, yaml.MappingNode):
            found = next((pair for pair in node.value if pair[0].value == part), None)
            if found is None:
                break
            line, node = found[0].start_mark.line + 1, found[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            node = node.value[part]
            line = node.start_mark.line + 1
        else:
            break
    return line


def _line_of(error: Exception) -> int:
    mark = getattr(error, "problem_mark", None)
    return int(mark.line) + 1 if mark is not None else 1
