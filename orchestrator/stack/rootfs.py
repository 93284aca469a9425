"""The base image: an ordinary Debian from a registry, or a root file system made on this machine."""

import platform
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from orchestrator.stack.packages import DebianPackages
from orchestrator.stack.steps import StepFailed

DEFAULT_SUITE = "bookworm"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
BUILD_TIMEOUT_S = 900.0
LEFT_OUT = (
    "path-exclude=/usr/share/man/*",
    "path-exclude=/usr/share/locale/*",
    "path-exclude=/usr/share/doc/*",
    "path-include=/usr/share/doc/*/copyright",
)
HOOKS = (
    # The archive's addresses (a private mirror's, perhaps) are nobody's business in a sandbox.
    'rm -rf "$1"/etc/apt/sources.list "$1"/etc/apt/sources.list.d/*',
    'find "$1"/usr -xdev -name __pycache__ -type d -prune -exec rm -rf {} +',
    ': > "$1"/etc/resolv.conf; echo sandbox > "$1"/etc/hostname',
)


@dataclass(frozen=True, slots=True)
class Source:
    """One entry of apt's sources: where, which suite, checked against which keyring."""

    uri: str
    suite: str
    keyring: str

    def __str__(self) -> str:
        return f"deb [signed-by={self.keyring}] {self.uri} {self.suite} main"


def package_list(text: str) -> tuple[str, ...]:
    """The names in a package list, without comments and blank lines, sorted."""
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return tuple(sorted({line for line in lines if line}))


def suite_of(os_release: str) -> str:
    """The Debian suite of a machine from its os-release; the default one if it isn't Debian."""
    fields = dict(line.split("=", 1) for line in os_release.splitlines() if "=" in line)
    codename = fields.get("VERSION_CODENAME", "").strip('"')
    return codename if fields.get("ID") == "debian" and codename else DEFAULT_SUITE


def debian_sources(files: Mapping[str, str], suite: str) -> list[Source]:
    """Debian's own entries (suite, its updates and security) among apt's source files by name."""
    found: list[Source] = []
    for name, text in sorted(files.items()):
        entries = _deb822(text) if name.endswith(".sources") else _one_line(text)
        found += [
            source
            for source in entries
            if source.suite in {suite, f"{suite}-updates", f"{suite}-security"}
        ]
    return list(dict.fromkeys(found))


def read_source_files(apt: Path = Path("/etc/apt")) -> dict[str, str]:
    """The text of apt's source files on this machine, by name."""
    files = [apt / "sources.list", *apt.glob("sources.list.d/*.list")]
    files += apt.glob("sources.list.d/*.sources")
    return {file.name: file.read_text() for file in files if file.is_file()}


def make_tar(
    tar: Path,
    *,
    suite: str,
    packages: Iterable[str],
    sources: Iterable[Source],
    debian: DebianPackages,
    env: Mapping[str, str],
    doing: Callable[[str], None],
) -> None:
    """Write a root file system with `packages` to `tar`; whole or not at all.

    Raises: StepFailed when this machine can't make one.
    """
    lines = [str(source) for source in sources]
    if not lines:
        raise StepFailed(
            "The sandbox's base image can't be made",
            why="no container registry answers, and apt on this machine names no Debian archive",
            what_to_do="Make a registry reachable to the Docker engine, or run this on Debian.",
        )
    debian.ensure(("mmdebstrap", "debian-archive-keyring"), doing=doing)
    doing(f"making a Debian {suite} root file system")
    tar.parent.mkdir(parents=True, exist_ok=True)
    part = tar.with_name(tar.name + ".part")
    with tempfile.TemporaryDirectory(dir=tar.parent) as scratch:
        listing = Path(scratch) / "sources.list"
        listing.write_text("\n".join(lines) + "\n")
        done = subprocess.run(
            _mmdebstrap(suite, packages, part, listing),
            env={**env, "TMPDIR": scratch},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=BUILD_TIMEOUT_S,
        )
    if done.returncode:
        part.unlink(missing_ok=True)
        raise StepFailed(
            "Making the sandbox's root file system failed",
            why="\n".join(done.stderr.strip().splitlines()[-12:]),
            what_to_do="Check that this machine reaches its Debian archive and has free disk.",
        )
    part.replace(tar)


def _mmdebstrap(suite: str, packages: Iterable[str], out: Path, listing: Path) -> list[str]:
    program = shutil.which("mmdebstrap") or "mmdebstrap"
    return [
        program,
        "--quiet",
        "--variant=apt",
        "--format=tar",
        f"--include={','.join(packages)}",
        '--aptopt=Acquire::Languages "none"',
        '--aptopt=Apt::Install-Recommends "false"',
        *(f"--dpkgopt={option}" for option in LEFT_OUT),
        *(f"--customize-hook={hook}" for hook in HOOKS),
        suite,
        str(out),
        str(listing),
    ]


def machine() -> str:
    """The processor's name as Python and uv know it (x86_64, aarch64)."""
    return platform.machine()


def _one_line(text: str) -> list[Source]:
    found: list[Source] = []
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if not words or words[0] != "deb":
            continue
        keyring = KEYRING
        if words[1].startswith("["):
            end = next(i for i, word in enumerate(words) if word.endswith("]"))
            options = " ".join(words[1 : end + 1]).strip("[] ").split()
            keyring = dict(o.split("=", 1) for o in options if "=" in o).get("signed-by", KEYRING)
            words = [words[0], *words[end + 1 :]]
        _add(found, words[1:2], words[2:3], words[3:], keyring)
    return found


def _deb822(text: str) -> list[Source]:
    found: list[Source] = []
    for paragraph in text.replace("\r", "").split("\n\n"):
        fields: dict[str, list[str]] = {}
        name = ""
        for line in paragraph.splitlines():
            if line.startswith("#"):
                continue
            if line[:1].isspace():
                fields.setdefault(name, []).extend(line.split())
            elif ":" in line:
                name, _, value = line.partition(":")
                name = name.lower()
                fields[name] = value.split()
        if "deb" in fields.get("types", []) and fields.get("enabled") != ["no"]:
            keyring = (fields.get("signed-by") or [KEYRING])[0]
            _add(
                found,
                fields.get("uris", []),
                fields.get("suites", []),
                fields.get("components", []),
                keyring,
            )
    return found


def _add(
    found: list[Source], uris: list[str], suites: list[str], components: list[str], keyring: str
) -> None:
    """Add the combinations, if they are of Debian's main archive: its keyring and component say so."""
    if "main" in components and Path(keyring).name.startswith("debian-archive"):
        found += [Source(uri, suite, keyring) for uri in uris for suite in suites]
