"""Where a registry's answers send one: the hosts of the files that they link [pure]."""

import html
import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import urljoin

import orjson

from orchestrator.domain.presets import Place, place_of
from orchestrator.stack.web import Page

_HREF = re.compile(rb"""<a\s[^>]*?href\s*=\s*["']([^"'#]+)""", re.IGNORECASE)


def python_files(page: Page) -> list[Place]:
    """Where the files of a project page lie (PEP 503, PEP 691). Raises: ValueError when it is none."""
    links = _json_links(page) if page.kind.endswith("json") else _hrefs(page)
    places = [_folder(urljoin(page.url, link)) for link in links]
    if not places:
        raise ValueError("its index answers no page of a package")
    return places


def npm_files(page: Page, package: str) -> list[Place]:
    """Below which paths the archives of a package lie. Raises: ValueError when it is none's page."""
    versions = _object(page.body).get("versions")
    found = [
        place_of(str(one.get("dist", {}).get("tarball", "")).partition(f"/{package}/-/")[0])
        for one in (versions.values() if isinstance(versions, dict) else ())
        if isinstance(one, dict)
    ]
    if not found:
        raise ValueError("its registry answers no page of a package")
    return list(dict.fromkeys(found))


def where_to(page: Page, path: str) -> list[Place]:
    """Where an archive is in truth, after redirects."""
    return [place_of(page.url.removesuffix(path))] if page.url.endswith(path) else []


def _json_links(page: Page) -> Iterator[str]:
    files = _object(page.body).get("files")
    for one in files if isinstance(files, list) else ():
        if isinstance(one, dict) and isinstance(one.get("url"), str):
            yield one["url"]


def _hrefs(page: Page) -> Iterable[str]:
    return (html.unescape(link.decode(errors="replace")) for link in _HREF.findall(page.body))


def _folder(url: str) -> Place:
    """The folder of a file, without its query."""
    return place_of(url.partition("?")[0].partition("#")[0].rpartition("/")[0])


def _object(body: bytes) -> dict[str, Any]:
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise ValueError("its answer is no JSON") from error
    if not isinstance(found, dict):
        raise ValueError("its answer is no JSON object")  # noqa: TRY004 - it is their value
    return found
