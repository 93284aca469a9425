"""Apt's sources on this machine: which of them are Debian's own archive, and for which suite."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

DEFAULT_SUITE = "bookworm"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
OS_RELEASE = Path("/etc/os-release")


@dataclass(frozen=True, slots=True)
class Source:
    """One entry of apt's sources: where, which suite, checked against which keyring."""

    uri: str
    suite: str
    keyring: str

    def __str__(self) -> str:
        return f"deb [signed-by={self.keyring}] {self.uri} {self.suite} main"


def suite_of(os_release: str) -> str:
    """The Debian suite of a machine from its os-release; the default one if it isn't Debian."""
    fields = dict(line.split("=", 1) for line in os_release.splitlines() if "=" in line)
    codename = fields.get("VERSION_CODENAME", "").strip('"')
    return codename if fields.get("ID") == "debian" and codename else DEFAULT_SUITE


def this_suite() -> str:
    """The suite of this machine; the default one if it isn't Debian."""
    return suite_of(OS_RELEASE.read_text() if OS_RELEASE.exists() else "")


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
