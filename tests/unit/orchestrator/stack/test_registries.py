"""Which package registries a machine uses, and where their answers send one."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from orchestrator.adapters.egress_files import read_registries, registries_file
from orchestrator.domain.presets import Place, Registry, Unavailable, place_of
from orchestrator.stack.registries import Machine, discover, keep, this_machine
from orchestrator.stack.web import Page, Unreachable

INDEX, FILES = "https://index.example/py/simple", "https://files.example/packages"
HTML = (
    b'<html><a data-x="1" href="../../packages/aa/bb/t-1.whl#sha256=0">t</a>'
    b'<a class=x href="https://files.example/packages/cc/t-2.whl?x&amp;y#sha256=0">t</a>'
)
PYTHON = {"files": [{"url": f"{FILES}/aa/t-1.whl"}, {"url": f"{FILES}/bb/t-2.whl"}, {"no": 1}]}
NPM = "https://npm.example:8443/all"


def page(url: str, content: object, kind: str = "application/json") -> Page:
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    return Page(url, kind, body)


def package(*tarballs: str) -> dict[str, Any]:
    return {"versions": {str(n): {"dist": {"tarball": one}} for n, one in enumerate(tarballs)}}


@dataclass
class Told:
    """What a machine's tools and the web say."""

    pages: dict[str, Page] = field(default_factory=dict)
    says: dict[str, str] = field(default_factory=dict)
    """By the command's first word without its folder."""
    private: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    away: bool = False

    def machine(self, **changes: Any) -> Machine:
        machine = Machine(
            say=self._say,
            npm=("npm",),
            debian=["http://deb.example/debian", "http://deb.example/debian-security"],
            suite="stable",
            fetch=self._fetch,
            private=lambda host: self.private.get(host, ()),
        )
        return replace(machine, **changes)

    def _say(self, argv: Sequence[str]) -> str | None:
        return self.says.get(Path(argv[0]).name)

    def _fetch(self, url: str, accept: str) -> Page:
        assert accept
        if self.away or url not in self.pages:
            raise Unreachable(f"{url}: connection refused")
        return self.pages[url]


@pytest.fixture
def told() -> Told:
    release = "http://deb.example/debian/dists/stable/InRelease"
    return Told(
        pages={
            f"{INDEX}/pip/": page(f"{INDEX}/pip/", PYTHON),
            f"{INDEX}/setuptools/": page(f"{INDEX}/setuptools/", HTML, "text/html"),
            f"{NPM}/semver": page(f"{NPM}/semver", package(f"{NPM}/semver/-/semver-1.tgz")),
            release: page(release, b"Origin: Debian"),
        },
        says={
            "pip3": "global.cert='x'\n",
            "uv": f"--index-url {INDEX}\n\n",
            "npm": f"{NPM}/\n",
        },
    )


def test_what_the_machines_tools_use_is_found_with_where_it_leads(told: Told) -> None:
    found = discover(told.machine())
    assert found["python"] == Registry(
        INDEX,
        (place_of(INDEX),),
        (place_of(FILES), place_of("https://index.example/py/packages/aa/bb")),
        "uv",
    )
    assert found["npm"] == Registry(f"{NPM}/", (place_of(NPM),), (), "npm")
    assert found["debian"] == Registry(
        "http://deb.example/debian",
        (place_of("http://deb.example/debian"), place_of("http://deb.example/debian-security")),
        (),
        "apt",
    )


def test_pips_own_setting_goes_before_what_uv_would_ask(told: Told) -> None:
    mirror = "https://mirror.example/simple"
    told.says["pip3"] = f"global.cert='x'\nglobal.index-url='{mirror}'\n"
    for name in ("pip", "setuptools"):
        told.pages[f"{mirror}/{name}/"] = page(f"{mirror}/{name}/", PYTHON)
    python = discover(told.machine())["python"]
    assert isinstance(python, Registry)
    assert (python.url, python.told_by) == (mirror, "pip")
    assert python.files == (place_of(FILES),)


def test_archives_that_lie_elsewhere_are_found(told: Told) -> None:
    other = "https://cdn.example/npm/semver/-/semver-2.tgz"
    told.pages[f"{NPM}/semver"] = page(NPM, package(f"{NPM}/semver/-/s-1.tgz", other))
    release = "http://cdn.example/mirror/debian/dists/stable/InRelease"
    told.pages["http://deb.example/debian/dists/stable/InRelease"] = page(release, b"")
    found = discover(told.machine())
    npm, debian = found["npm"], found["debian"]
    assert isinstance(npm, Registry)
    assert isinstance(debian, Registry)
    assert npm.files == (place_of("https://cdn.example/npm"),)
    assert debian.files == (place_of("http://cdn.example/mirror/debian"),)


def test_a_mirror_on_a_private_address_may_be_dialled_there(told: Told) -> None:
    told.private = {"files.example": ("10.4.0.9",)}
    python = discover(told.machine())["python"]
    assert isinstance(python, Registry)
    assert {one.host: one.networks for one in python.files}["files.example"] == ("10.4.0.9",)
    assert python.index[0].networks == ()


@pytest.mark.parametrize(
    ("kind", "change", "says", "word"),
    [
        ("npm", {"npm": ()}, {}, "no npm"),
        ("npm", {}, {"npm": ""}, "doesn't say"),
        ("npm", {}, {"npm": "https://10.0.0.1/"}, "can't be reached"),
        ("debian", {"debian": []}, {}, "no archive"),
        ("python", {}, {"uv": "", "pip3": ""}, "neither pip nor uv"),
        ("python", {}, {"uv": "--index-url https://other.example/simple"}, "can't be reached"),
    ],
)
def test_a_machine_that_can_not_tell_says_so_in_a_sentence(
    told: Told, kind: str, change: dict[str, Any], says: dict[str, str], word: str
) -> None:
    told.says |= says
    found = discover(told.machine(**change))
    one = found[kind]
    assert isinstance(one, Unavailable)
    assert word in one.reason
    assert sum(isinstance(each, Registry) for each in found.values()) == 2


@pytest.mark.parametrize(
    "content", [{}, [], b"<html>", {"files": []}, {"versions": {"1": {}}}, b"\xff"]
)
def test_an_answer_that_is_no_page_of_a_package_is_no_registry(told: Told, content: object) -> None:
    for url in list(told.pages):
        told.pages[url] = page(url, content)
    found = discover(told.machine())
    assert isinstance(found["python"], Unavailable)
    assert isinstance(found["npm"], Unavailable)


def test_what_can_not_be_reached_now_stays_as_it_was(told: Told, tmp_path: Path) -> None:
    first = keep(tmp_path, discover(told.machine()))
    assert read_registries(registries_file(tmp_path)) == first
    told.away = True
    told.says["npm"] = ""
    again = keep(tmp_path, discover(told.machine()))
    assert again["python"] == first["python"]
    assert isinstance(again["npm"], Unavailable)
    assert read_registries(registries_file(tmp_path)) == again


def test_this_machine_can_be_asked(tmp_path: Path) -> None:
    machine = this_machine(tmp_path)
    assert machine.say(("nothing-of-that-name",)) is None
    assert machine.say(("sh", "-c", "exit 3")) is None
    assert machine.say(("sh", "-c", "echo yes")) == "yes\n"


def test_a_place_with_everything_in_it_is_covered_by_nothing_less(told: Told) -> None:
    told.pages[f"{INDEX}/pip/"] = page(INDEX, {"files": [{"url": "https://files.example/a/t.whl"}]})
    told.pages[f"{INDEX}/setuptools/"] = page(
        INDEX, {"files": [{"url": "https://files.example/b/t"}]}
    )
    python = discover(told.machine())["python"]
    assert isinstance(python, Registry)
    assert python.files == (Place("https", "files.example", 443, ""),)
