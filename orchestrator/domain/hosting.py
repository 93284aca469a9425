"""What a repository's host is beside git: which kind, where its API is, and what it calls it [pure]."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from entrance.session import HostKind
from orchestrator.domain.team import Repository

KINDS: tuple[HostKind, ...] = ("github", "gitlab", "gitea", "plain")
KNOWN: Mapping[str, HostKind] = {
    "github.com": "github",
    "gitlab.com": "gitlab",
    "codeberg.org": "gitea",
    "gitea.com": "gitea",
}
"""Hosts whose kind goes without saying."""

_API_PATHS: Mapping[HostKind, str] = {
    "github": "/api/v3",
    "gitlab": "/api/v4",
    "gitea": "/api/v1",
}
_APIS = {"github.com": "https://api.github.com"}
_PART = r"[A-Za-z0-9_.][A-Za-z0-9_.-]{0,99}"
_NAMES: Mapping[HostKind, re.Pattern[str]] = {
    "github": re.compile(rf"{_PART}/{_PART}"),
    "gitlab": re.compile(rf"{_PART}(?:/{_PART}){{1,20}}"),
    "gitea": re.compile(rf"{_PART}/{_PART}"),
}


@dataclass(frozen=True, slots=True)
class Hosting:
    """`api` and `full_name` are empty where the host is plain."""

    kind: HostKind = "plain"
    api: str = ""
    full_name: str = ""


def hosting_of(repository: Repository) -> Hosting:
    """What was said of the host, or goes without saying; a host that nothing is known of is plain.

    Raises: ValueError when what was said can't be.
    """
    parts = urlsplit(repository.url)
    kind = repository.host or KNOWN.get(parts.netloc.lower(), "plain")
    if kind == "plain":
        if repository.api:
            raise ValueError(f"{repository.url}: say which host's API {repository.api} is")
        return Hosting()
    api = repository.api.rstrip("/") or _api_of(parts.scheme, parts.netloc, kind)
    try:
        return Hosting(kind, _checked(api), _full_name(parts.path, api, kind))
    except ValueError:
        if repository.host or repository.api:
            raise
        return Hosting()  # nobody said that it is one of theirs


def _api_of(scheme: str, place: str, kind: HostKind) -> str:
    return _APIS.get(place.lower()) or f"{scheme}://{place.lower()}{_API_PATHS[kind]}"


def _checked(api: str) -> str:
    parts = urlsplit(api)
    plain = parts.scheme in {"http", "https"} and parts.hostname and "@" not in parts.netloc
    if not plain or parts.query or parts.fragment or not re.fullmatch(r"[!-~]+", api):
        raise ValueError("an API's address is an http(s) URL without user, query and fragment")
    return api


def _full_name(path: str, api: str, kind: HostKind) -> str:
    """`owner/name`: the repository's path without that below which the host itself is."""
    root = urlsplit(api).path.removesuffix(_API_PATHS[kind]).strip("/")
    name = path.strip("/").removesuffix(".git")
    if root and name.startswith(f"{root}/"):
        name = name.removeprefix(f"{root}/")
    dots = {".", ".."} & set(name.split("/"))
    if dots or not _NAMES[kind].fullmatch(name):
        raise ValueError(f"{name!r} is no repository of a {kind} host")
    return name
