"""Presets: rules for well-known places; hosts of package registries come from the machine [pure]."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

import yaml

from orchestrator.domain.egress_text import Scheme, rules_of_shapes
from proxy.hosts import canonical_host
from proxy.rules import DEFAULT_PORTS, Rule


@dataclass(frozen=True, slots=True)
class Place:
    """Where a part of a registry lies: `base` is the path below which, without a slash at its end."""

    scheme: Scheme
    host: str
    port: int
    base: str = ""
    networks: tuple[str, ...] = ()
    """Its addresses, as far as they aren't public: a company's own mirror."""


@dataclass(frozen=True, slots=True)
class Registry:
    """A package registry, as this machine's own tools know it.

    `index` is what is asked for packages, `files` is where its answers send one besides.
    """

    url: str
    index: tuple[Place, ...]
    files: tuple[Place, ...] = ()
    told_by: str = ""
    """The tool that named it."""


@dataclass(frozen=True, slots=True)
class Unavailable:
    """It can't be had on this machine. `reason` is a sentence without its end."""

    reason: str


type Registries = Mapping[str, Registry | Unavailable]
"""By kind: `python`, `npm`, `debian`."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A rule of a preset. `at` is which part of the registry it is for; empty: its host is its own."""

    rule: Rule
    at: str = ""


@dataclass(frozen=True, slots=True)
class Preset:
    """Rules for one purpose. `registry` is whose hosts they are for; empty: they name their own."""

    about: str
    shapes: tuple[Shape, ...]
    registry: str = ""


def shipped_presets() -> Mapping[str, Preset]:
    """Those that come with Sandgate."""
    text = files("orchestrator.domain").joinpath("presets.yaml").read_text("utf-8")
    return {name: _preset(name, said) for name, said in yaml.safe_load(text).items()}


def rules_of(name: str, preset: Preset, registries: Registries) -> Sequence[Rule] | Unavailable:
    """The preset's rules on a machine with these registries."""
    if not preset.registry:
        return [_named(name, shape.rule) for shape in preset.shapes]
    registry = registries.get(
        preset.registry, Unavailable("nobody has looked for its registry yet")
    )
    if isinstance(registry, Unavailable):
        return registry
    return [_named(name, one) for shape in preset.shapes for one in _placed(shape, registry)]


def _placed(shape: Shape, registry: Registry) -> Iterator[Rule]:
    for place in registry.index if shape.at == "index" else registry.files:
        yield replace(
            shape.rule,
            host=place.host,
            ports=frozenset({place.port}),
            schemes=frozenset({place.scheme}),
            networks=place.networks,
            paths=tuple(place.base + path for path in shape.rule.paths),
        )


def _named(preset: str, rule: Rule) -> Rule:
    return replace(rule, name=f"preset/{preset}/{rule.name}")


def _preset(name: str, said: Mapping[str, Any]) -> Preset:
    registry = str(said.get("registry", ""))
    return Preset(said["about"], tuple(_shape(name, one) for one in said["rules"]), registry)


def _shape(preset: str, said: Mapping[str, Any]) -> Shape:
    """A rule of a registry has no host yet; one that nobody has stands for it."""
    at = str(said.get("at", ""))
    fields = {key: value for key, value in said.items() if key != "at"}
    if at:
        fields |= {"host": "registry.invalid"}
        fields |= {"paths": [path.removeprefix("{base}") for path in said["paths"]]}
    return Shape(rules_of_shapes([fields], f"preset {preset}")[0], at)


def place_of(url: str) -> Place:
    """The place that an http(s) URL names. Raises: ValueError."""
    parts = urlsplit(url)
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("the address of a registry has no user, query or fragment")
    host, base = canonical_host(parts.hostname or ""), parts.path.rstrip("/")
    if parts.scheme not in DEFAULT_PORTS:
        raise ValueError("a registry is reached by http or https")
    scheme: Scheme = "http" if parts.scheme == "http" else "https"
    return Place(scheme, host, parts.port or DEFAULT_PORTS[scheme], base)


VARIABLES: Mapping[str, tuple[str, ...]] = {
    "python": ("PIP_INDEX_URL", "UV_DEFAULT_INDEX"),
    "npm": ("NPM_CONFIG_REGISTRY",),
    "debian": ("DEBIAN_MIRROR",),
}
"""How package managers are told where their registry is: else they would ask the one they know."""


def environment_of(
    presets: AbstractSet[str], shipped: Mapping[str, Preset], registries: Registries
) -> dict[str, str]:
    """The variables that lead to the registries of these presets."""
    found: dict[str, str] = {}
    for name in sorted(presets & shipped.keys()):
        registry = registries.get(shipped[name].registry)
        if isinstance(registry, Registry):
            found |= dict.fromkeys(VARIABLES.get(shipped[name].registry, ()), registry.url)
    return found
