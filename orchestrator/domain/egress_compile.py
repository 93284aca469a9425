"""Puts an installation's, an agent's, an engagement's and people's rules together for one run [pure].

RULES: nothing but a rule opens anything, so what can't be rendered is left out and said. Whatever is
below the installation stays under its ceiling; a rule that forbids or holds is never narrowed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from orchestrator.domain.egress import (
    METHODS,
    WEB_PORTS,
    Ceiling,
    Ground,
    Policy,
    covers,
    overlap,
    tighter,
)
from orchestrator.domain.presets import Preset, Registries, Registry, Unavailable, rules_of
from proxy.policy import Limits, Mode, Rule
from proxy.rules import DEFAULT_PORTS

INSTALLATION = "installation"


@dataclass(frozen=True, slots=True)
class Layer:
    """One source of rules. `name` is what the log calls its rules by: `engagement`, `agent`."""

    name: str
    policy: Policy


@dataclass(frozen=True, slots=True)
class Known:
    """What presets there are, and which registries this machine uses."""

    presets: Mapping[str, Preset]
    registries: Registries


@dataclass(frozen=True, slots=True)
class Compiled:
    """A run's rules and limits, and in sentences what of the wishes is not in them."""

    rules: tuple[Rule, ...] = ()
    limits: Limits = field(default_factory=Limits)
    left_out: tuple[str, ...] = ()


def compile_policy(
    ground: Ground, layers: Sequence[Layer], approved: Sequence[Rule], known: Known
) -> Compiled:
    """The rules of one run. Those of `approved` carry the approval that allowed them."""
    own = Layer(INSTALLATION, ground.policy)
    wanted: list[Rule | str] = [*_presets(own, known), *_own(own)]
    dialable = _dialable(ground.policy.rules, known)
    for layer in layers:
        wanted += [_under(one, _for_presets(ground.ceiling)) for one in _presets(layer, known)]
        wanted += [_dialled(_under(one, ground.ceiling), dialable) for one in _own(layer)]
    wanted += [_dialled(_under(rule, ground.ceiling), dialable) for rule in approved]
    rules = _widened(list(dict.fromkeys(one for one in wanted if isinstance(one, Rule))))
    blind = _blinding(rules)
    limits = ground.policy.limits
    for layer in layers:
        limits = tighter(limits, layer.policy.limits)
    left_out = [one for one in wanted if isinstance(one, str)]
    left_out += [f"{one.name}: {BLINDING}" for one in blind]
    return Compiled(
        _apart(rule for rule in rules if rule not in blind), limits, tuple(dict.fromkeys(left_out))
    )


BLINDING = "its TLS would stay closed, but another rule has to see what is asked of the host"


def _presets(layer: Layer, known: Known) -> Iterator[Rule | str]:
    for name in dict.fromkeys(layer.policy.presets):
        preset = known.presets.get(name)
        if preset is None:
            there = ", ".join(sorted(known.presets))
            yield f"{layer.name}: there is no preset {name}, only {there}"
            continue
        found = rules_of(name, preset, known.registries)
        if isinstance(found, Unavailable):
            yield f"{layer.name}: the preset {name} is not available here: {found.reason}"
            continue
        yield from found


def _own(layer: Layer) -> Iterator[Rule]:
    for rule in layer.policy.rules:
        yield replace(rule, name=f"{layer.name}/{rule.name}")


def _under(wanted: Rule | str, ceiling: Ceiling) -> Rule | str:
    """The rule, as far as the ceiling lets it be; a sentence when nothing of it is left."""
    if isinstance(wanted, str) or wanted.mode is not Mode.ALLOW:
        return wanted
    above = "the installation's ceiling"
    if ceiling.hosts and not any(covers(one, wanted.host) for one in ceiling.hosts):
        return f"{wanted.name}: {above} has no {wanted.host}"
    if wanted.splice and not ceiling.splice:
        return f"{wanted.name}: {above} has no splice"
    methods = wanted.methods & ceiling.methods if ceiling.methods else wanted.methods
    if not methods:
        return f"{wanted.name}: {above} has no {', '.join(sorted(wanted.methods))}"
    schemes, ports = wanted.schemes, wanted.ports
    if ceiling.ports and not ports:
        schemes = frozenset(one for one in schemes if DEFAULT_PORTS[one] in ceiling.ports)
    elif ceiling.ports:
        ports &= ceiling.ports
    if not schemes or (wanted.ports and not ports):
        return f"{wanted.name}: {above} has none of its ports"
    upgrade = wanted.upgrade and ceiling.upgrade
    return replace(wanted, methods=methods, schemes=schemes, ports=ports, upgrade=upgrade)


def _for_presets(ceiling: Ceiling) -> Ceiling:
    """A registry's port is where this machine's own tools find it."""
    return replace(ceiling, ports=frozenset())


def _dialable(own: Sequence[Rule], known: Known) -> list[tuple[str, tuple[str, ...]]]:
    """Hosts whose addresses needn't be public: by the installation's word, or as registries were found."""
    said = [(rule.host, rule.networks) for rule in own]
    for registry in known.registries.values():
        if isinstance(registry, Registry):
            said += [(one.host, one.networks) for one in (*registry.index, *registry.files)]
    return [(host, networks) for host, networks in said if networks]


def _dialled(wanted: Rule | str, dialable: Sequence[tuple[str, tuple[str, ...]]]) -> Rule | str:
    """Which addresses that aren't public may be dialled is the installation's to say, nobody else's."""
    if isinstance(wanted, str):
        return wanted
    networks = [one for host, said in dialable if covers(host, wanted.host) for one in said]
    return replace(wanted, networks=tuple(dict.fromkeys(networks)))


def _widened(rules: Sequence[Rule]) -> list[Rule]:
    """What forbids or holds without naming ports is about every port that any rule opens."""
    opened = frozenset(port for rule in rules for port in rule.ports) | WEB_PORTS
    return [
        replace(one, ports=opened) if one.mode is not Mode.ALLOW and not one.ports else one
        for one in rules
    ]


def _apart(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """Each under a name of its own: the log and the counting of uses tell them apart by it."""
    named: dict[str, Rule] = {}
    for rule in rules:
        number, name = 1, rule.name
        while name in named:
            number += 1
            name = f"{rule.name}.{number}"
        named[name] = replace(rule, name=name)
    return tuple(named.values())


def _blinding(rules: Sequence[Rule]) -> list[Rule]:
    """Spliced rules that would blind others: inside closed TLS no path or method can be refused."""
    watching = [one.host for one in rules if one.mode is not Mode.ALLOW]
    return [one for one in rules if one.splice and any(overlap(one.host, w) for w in watching)]


MOST_LINES = 60


def in_words(compiled: Compiled) -> tuple[str, ...]:
    """What is open, a line a rule, as its agent is told; empty when nothing is."""
    lines = [_line(rule) for rule in compiled.rules if rule.mode is not Mode.DENY]
    lines = list(dict.fromkeys(lines))
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], f"and {len(lines) - MOST_LINES} more"]
    return tuple(lines)


def _line(rule: Rule) -> str:
    methods = "any method" if rule.methods >= METHODS else ", ".join(sorted(rule.methods))
    ports = {f":{port}" for port in rule.ports - WEB_PORTS}
    host = f"{'/'.join(sorted(rule.schemes))}://{rule.host}{'/'.join(sorted(ports))}"
    paths = "" if "/**" in rule.paths else f" (only {' '.join(rule.paths)})"
    held = "; a person decides about each request" if rule.mode is Mode.HOLD else ""
    return f"{methods} {host}{paths}{held}"
