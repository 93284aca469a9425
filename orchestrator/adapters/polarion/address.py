"""Addresses of the REST API [pure]: every path segment is encoded once, and only once."""

from collections.abc import Iterable, Mapping
from urllib.parse import quote, urlencode

from yarl import URL


class Address:
    """Makes addresses below one REST API, e.g. `https://host/polarion/rest/v1`."""

    def __init__(self, base_url: str) -> None:
        self._base = base_url.rstrip("/")

    def of(self, *segments: str, query: Mapping[str, str] | None = None) -> URL:
        """`segments` are plain texts: a slash or a percent sign in one stays part of it."""
        path = "/".join(_segment(segment) for segment in segments)
        return _url(f"{self._base}/{path}", query or {})

    def embedded(self, *segments: str) -> URL:
        """Below the embedded server's own routes, which real Polarion doesn't have."""
        root = self._base.removesuffix("/rest/v1")
        return _url("/".join([f"{root}/embedded", *map(_segment, segments)]), {})


def sparse(**fields: str) -> dict[str, str]:
    """The `fields[type]` parameters, e.g. `sparse(workitems="@all")`."""
    return {f"fields[{resource}]": names for resource, names in fields.items()}


def _segment(text: str) -> str:
    """Raises: ValueError for what no segment can be: empty, or a step to another folder."""
    if text in ("", ".", ".."):
        raise ValueError(f"{text!r} can't be a part of an address")
    return quote(text, safe="", errors="strict")


def _url(text: str, query: Mapping[str, str]) -> URL:
    pairs: Iterable[tuple[str, str]] = query.items()
    tail = f"?{urlencode(list(pairs), quote_via=quote)}" if query else ""
    return URL(text + tail, encoded=True)
