"""What presets open, and where their hosts come from."""

import re
from importlib.resources import files

import pytest

from orchestrator.domain.presets import (
    Registry,
    Unavailable,
    place_of,
    rules_of,
    shipped_presets,
)
from proxy.policy import Mode
from tests.fakes.egress import answer

PRESETS = shipped_presets()
REGISTRY = Registry(
    "https://r.example/base", (place_of("https://r.example/base"),), (place_of("http://f.example"),)
)
REGISTRIES = {"python": REGISTRY, "npm": REGISTRY, "debian": REGISTRY}


def test_the_presets_are_those_that_are_promised() -> None:
    assert PRESETS.keys() == {"pypi", "npm", "debian", "github-read", "docs"}
    assert all(preset.about.endswith(".") for preset in PRESETS.values())


@pytest.mark.parametrize("name", ["pypi", "npm", "debian"])
def test_a_registrys_hosts_are_the_machines_own_and_not_in_the_code(name: str) -> None:
    assert isinstance(rules_of(name, PRESETS[name], {}), Unavailable)
    rules = rules_of(name, PRESETS[name], REGISTRIES)
    assert not isinstance(rules, Unavailable)
    assert {rule.host for rule in rules} == {"r.example", "f.example"}
    assert all(rule.methods == {"GET", "HEAD"} and rule.max_bytes for rule in rules)
    text = files("orchestrator.domain").joinpath("presets.yaml").read_text()
    written = text[text.index(f"\n{name}:") :].split("\n\n")[0].split("github-read")[0]
    assert not re.search(r"host:", written)


def test_what_can_not_be_had_says_why() -> None:
    why = Unavailable("this machine has no npm")
    assert rules_of("npm", PRESETS["npm"], {"npm": why}) is why


@pytest.mark.parametrize("name", PRESETS)
def test_every_rule_says_where_it_comes_from(name: str) -> None:
    rules = rules_of(name, PRESETS[name], REGISTRIES)
    assert not isinstance(rules, Unavailable)
    assert len({rule.name for rule in rules}) == len(rules)
    assert all(rule.name.startswith(f"preset/{name}/") for rule in rules)


@pytest.mark.parametrize(
    ("method", "path", "word"),
    [
        ("GET", "/team/thing", "allow"),
        ("GET", "/team/thing.git/info/refs?service=git-upload-pack", "allow"),
        ("POST", "/team/thing.git/git-upload-pack", "allow"),
        ("POST", "/team/thing.git/git-receive-pack", "deny"),
        ("GET", "/team/thing.git/git-receive-pack", "deny"),
        ("POST", "/team/thing/issues", "deny"),
        ("DELETE", "/team/thing", "deny"),
    ],
)
def test_github_is_only_read(method: str, path: str, word: str) -> None:
    rules = rules_of("github-read", PRESETS["github-read"], {})
    assert not isinstance(rules, Unavailable)
    assert answer(rules, f"https://github.com{path}", method) == word


def test_documentation_is_only_read() -> None:
    rules = rules_of("docs", PRESETS["docs"], {})
    assert not isinstance(rules, Unavailable)
    assert all(rule.methods == {"GET", "HEAD"} and rule.mode is Mode.ALLOW for rule in rules)


@pytest.mark.parametrize(
    "url",
    [
        "", "ftp://r.example/x", "file:///opt/simple", "https://", "https://user@r.example/",
        "https://user:secret@r.example/", "https://r.example/?a=b", "https://10.0.0.1/simple",
        "https://localhost/simple", "https://r.example:99999/",
    ],
)  # fmt: skip
def test_only_a_plain_address_by_name_is_a_place(url: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        place_of(url)


def test_a_place_has_its_schemes_port_and_no_slash_at_the_end() -> None:
    place = place_of("http://R.Example./base/")
    assert (place.scheme, place.host, place.port, place.base) == ("http", "r.example", 80, "/base")
