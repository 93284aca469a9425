"""The few calls of PocketBase that we need, over aiohttp, as its superuser."""

import asyncio
import math
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import orjson

from entrance.errors import Forbidden, Malformed, NotFound, Unavailable
from orchestrator.adapters.pocketbase.refusals import BAD_REQUEST, error_of
from orchestrator.adapters.pocketbase.rows import Row

PAGE = 1000
"""The most that PocketBase lists at once."""
BACKUP_S = 120.0
_SIGN_IN = "/api/collections/_superusers/auth-with-password"
_DONE = (200, 204)
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


class PocketBase:
    """A client of one PocketBase.

    It signs in when it must: at the first call, and when its token is refused. Every call may raise
    Unavailable (it can't be reached, or can't write), Forbidden (the password is wrong) and
    Malformed (it answers what can't be read, or refuses a value); other errors are said.
    """

    def __init__(
        self,
        http: aiohttp.ClientSession,
        *,
        url: str,
        user: str,
        password: str,
        timeout_s: float = 10.0,
    ) -> None:
        self._http = http
        self._url = url.rstrip("/")
        self._user = user
        self._password = password
        self._timeout_s = timeout_s
        self._token = ""
        self._signing_in = asyncio.Lock()
        self._answered_at = -math.inf

    async def create(self, collection: str, record: Row) -> None:
        """Store a new record. Raises: Conflict when a unique value is taken."""
        await self._call("POST", f"/api/collections/{collection}/records", body=record)

    async def batch(self, collection: str, records: Sequence[Row]) -> None:
        """Store all the records or none. Raises: Conflict when a unique value is taken."""
        path = f"/api/collections/{collection}/records"
        requests = [{"method": "POST", "url": path, "body": record} for record in records]
        await self._call("POST", "/api/batch", body={"requests": requests})

    async def put(self, collection: str, record: Row) -> None:
        """Store a record in place of the one with its id, if there is one."""
        path = f"/api/collections/{collection}/records"
        requests = [{"method": "PUT", "url": path, "body": record}]
        await self._call("POST", "/api/batch", body={"requests": requests})

    async def get(self, collection: str, record_id: str) -> Row:
        """The record. Raises: NotFound."""
        path = f"/api/collections/{collection}/records/{_segment(record_id)}"
        return _object(await self._call("GET", path))

    async def delete(self, collection: str, record_id: str) -> None:
        """Remove a record. Raises: NotFound."""
        path = f"/api/collections/{collection}/records/{_segment(record_id)}"
        await self._call("DELETE", path)

    async def cas(self, collection: str, record_id: str, *, expected: int, fields: Row) -> None:
        """Set fields if the record's version is `expected`; it is one more then.

        Raises: Conflict when it isn't, or a unique value is taken; NotFound.
        """
        path = f"/api/sandgate/cas/{collection}/{_segment(record_id)}"
        await self._call("POST", path, body={"expected": expected, "set": fields})

    async def list(
        self,
        collection: str,
        filter_: str = "",
        *,
        sort: str,
        limit: int = PAGE,
        fields: str = "",
        page: int = 1,
    ) -> Sequence[Row]:
        """At most `limit` (itself at most `PAGE`) records that `filter_` holds for."""
        query = {"perPage": str(limit), "page": str(page), "skipTotal": "1", "sort": sort}
        query |= {"filter": filter_} if filter_ else {}
        query |= {"fields": fields} if fields else {}
        answer = await self._call("GET", f"/api/collections/{collection}/records", query=query)
        items = _object(answer).get("items")
        if not isinstance(items, list):
            raise Malformed(f"PocketBase listed {collection} without items")
        return items

    async def all(
        self, collection: str, filter_: str = "", *, sort: str, fields: str = ""
    ) -> AsyncIterator[Row]:
        """All records that `filter_` holds for, page by page; `sort` must put new ones last."""
        page, full = 1, True
        while full:
            rows = await self.list(collection, filter_, sort=sort, fields=fields, page=page)
            for row in rows:
                yield row
            page, full = page + 1, len(rows) == PAGE

    def answered_within(self, seconds: float) -> bool:
        """Whether it has done what it was asked so lately, and nothing has failed since."""
        return asyncio.get_running_loop().time() - self._answered_at < seconds

    async def ping(self) -> None:
        """Make sure that it answers, knows us and reads its database."""
        await self.list("usage", sort="@rowid", limit=1, fields="id")

    async def backup(self, name: str) -> None:
        """Make a backup (a .zip in its data folder's backups) while it works on."""
        await self._call("POST", "/api/backups", body={"name": name}, timeout_s=BACKUP_S)

    async def _call(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        query: Mapping[str, str] | None = None,
        timeout_s: float | None = None,
    ) -> Any:
        request = _Request(method, path, query, body, timeout_s or self._timeout_s)
        try:
            answer = await self._asked(request)
        except Unavailable:
            self._answered_at = -math.inf
            raise
        self._answered_at = asyncio.get_running_loop().time()
        return answer

    async def _asked(self, request: "_Request") -> Any:
        token = await self._signed_in(refused="")
        try:
            return _accepted(request, await self._exchange(request, token))
        except Forbidden:  # the token is too old, or the password was changed since
            token = await self._signed_in(refused=token)
            return _accepted(request, await self._exchange(request, token))

    async def _signed_in(self, *, refused: str) -> str:
        """A token other than `refused`. Raises: Forbidden when the password is wrong."""
        async with self._signing_in:
            if self._token == refused:
                body = {"identity": self._user, "password": self._password}
                request = _Request("POST", _SIGN_IN, None, body, self._timeout_s)
                answer = await self._exchange(request, "")
                if answer[0] == BAD_REQUEST:
                    raise Forbidden(
                        f"PocketBase at {self._url} does not know {self._user} with our password:"
                        " is it another installation's? Else start it again"
                    )
                self._token = str(_object(_accepted(request, answer)).get("token", ""))
            return self._token

    async def _exchange(self, request: "_Request", token: str) -> tuple[int, bytes]:
        """The status and body that PocketBase answers. Raises: Unavailable."""
        headers = {"Content-Type": "application/json"}
        if token:
            headers["Authorization"] = token
        try:
            async with self._http.request(
                request.method,
                self._url + request.path,
                params=request.query,
                data=None if request.body is None else orjson.dumps(request.body, default=str),
                headers=headers,
                timeout=aiohttp.ClientTimeout(total=request.timeout_s),
                allow_redirects=False,
            ) as response:
                return response.status, await response.read()
        except (aiohttp.ClientError, TimeoutError) as error:
            cause = str(error) or type(error).__name__
            raise Unavailable(f"PocketBase at {self._url} can't be reached: {cause}") from error


@dataclass(frozen=True, slots=True)
class _Request:
    method: str
    path: str
    query: Mapping[str, str] | None
    body: Any = field(repr=False)
    timeout_s: float


def _accepted(request: _Request, answer: tuple[int, bytes]) -> Any:
    """The answer's JSON; None for none. Raises: what the refusal means."""
    status, body = answer
    if status not in _DONE:
        raise error_of(f"{request.method} {request.path}", status, body)
    try:
        return orjson.loads(body) if body else None
    except orjson.JSONDecodeError as error:
        raise Malformed("PocketBase answered something that isn't JSON") from error


def _segment(record_id: str) -> str:
    """The id as a part of a path: what no id of ours looks like isn't asked for at all."""
    if not _ID.fullmatch(record_id):
        raise NotFound(f"no record has the id {record_id[:64]!r}")
    return record_id


def _object(answer: Any) -> Row:
    if not isinstance(answer, dict):
        raise Malformed("PocketBase answered something that isn't a JSON object")
    return answer
