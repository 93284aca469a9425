"""The API of one repository's host: requests with the grant's credential, pages, what is read."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import aiohttp
from yarl import URL

from entrance.errors import Malformed
from entrance.session import RepoGrant
from entrance.vault.credentials import SecretHeaders
from entrance.vault.rest import Answer, Asked, ask
from orchestrator.ports.githosts import Proposed

PAGE = 50
"""Gitea gives no more than that, as it comes."""
MOST_PAGES = 40
LONGEST_URL = 2000


class ApiCredentials(Protocol):
    """Knows the secrets that open the hosts' APIs."""

    async def headers_for_api(self, grant: RepoGrant, method: str, url: str) -> SecretHeaders:
        """Headers for a request to `url`. Raises: Forbidden, Malformed, Unavailable."""
        ...


@dataclass(frozen=True, slots=True)
class Api:
    """Raises, as `entrance.vault.rest.ask`: Unavailable, Forbidden, NotFound, Conflict, Malformed."""

    http: aiohttp.ClientSession
    credentials: ApiCredentials
    grant: RepoGrant
    headers: Mapping[str, str]
    """What the host wants to see besides."""

    async def get(self, path: str, **query: str) -> Answer:
        return await self._ask("GET", path, query=query)

    async def post(self, path: str, body: Mapping[str, Any]) -> Answer:
        return await self._ask("POST", path, body)

    async def patch(self, path: str, body: Mapping[str, Any]) -> Answer:
        return await self._ask("PATCH", path, body)

    async def put(self, path: str, body: Mapping[str, Any]) -> Answer:
        return await self._ask("PUT", path, body)

    async def rows(self, path: str, size_name: str, **query: str) -> AsyncIterator[dict[str, Any]]:
        """The rows of a list, page after page, at most `MOST_PAGES` of them."""
        for page in range(1, MOST_PAGES + 1):
            answer = await self.get(path, **query, **{size_name: str(PAGE), "page": str(page)})
            if not isinstance(answer.json, list):
                raise Malformed(f"{self.grant.name}: the host's list at {path} is none")
            for row in answer.json:
                if isinstance(row, dict):
                    yield row
            if 'rel="next"' not in answer.headers.get("Link", ""):
                return

    async def _ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, str] | None = None,
    ) -> Answer:
        url = str(URL(f"{self.grant.api}/{path}").with_query(query or None))
        what = f"pull requests of {self.grant.name}"
        secret = await self.credentials.headers_for_api(self.grant, method, url)
        return await ask(self.http, Asked(method, url, what, body, self.headers), secret)


def proposed(row: Any, number: str, url: str) -> Proposed:
    """A pull request of the host's, by the names of its number and its address. Raises: Malformed."""
    read = row if isinstance(row, dict) else {}
    which, where = read.get(number), read.get(url)
    if not isinstance(which, int) or isinstance(which, bool) or not isinstance(where, str):
        raise Malformed("the host's answer is no pull request")
    odd = not where.isprintable() or " " in where or len(where) > LONGEST_URL
    if odd or not where.startswith(("https://", "http://")):
        raise Malformed("the host's answer names no address of the pull request")
    return Proposed(which, where)


def at(row: Mapping[str, Any], *names: str) -> Any:
    """A value inside nested objects; None when it isn't there."""
    found: Any = row
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    return found
