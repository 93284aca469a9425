"""The git host behind the door: what is sent to it, and how its failures are told.

Of the sandbox's headers only those in `request_headers` go on, never its token; the real
credential is added here, from the vault. Redirects are not followed, cookies not kept.
"""

import asyncio
import re
from collections.abc import AsyncIterable, AsyncIterator, Mapping
from contextlib import asynccontextmanager, nullcontext
from http import HTTPStatus
from typing import Literal, Protocol

import aiohttp
from aiohttp import hdrs, web
from yarl import URL

from entrance.errors import Forbidden, Malformed, NotFound, Unavailable
from entrance.git.listing import Listing, ListingReader, encode_question
from entrance.git.pktline import ProtocolError
from entrance.git.receive_pack import Hash
from entrance.session import RepoGrant

Service = Literal["git-upload-pack", "git-receive-pack"]
USER_AGENT = "git/2.0 (sandgate)"
"""Some hosts tell git from browsers by how this begins."""

_CONNECT_S = 10.0
_SILENCE_S = 300.0
"""git hosts send a sign of life every few seconds while they work."""
_TOLD_BYTES = 1 << 16
_GIT_PROTOCOL = re.compile(r"version=[012](?::[a-z0-9=.-]{1,64}){0,4}")


class RepositoryCredentials(Protocol):
    """Knows the secrets that open the git hosts."""

    async def headers_for(self, grant: RepoGrant, method: str) -> Mapping[str, str]:
        """Headers to add to a request to `grant.url`; none when the grant names no credential.

        Raises: Forbidden when the secret is missing or not bound to this host and method,
        Unavailable when it can't be read now.
        """
        ...

    def refused(self, grant: RepoGrant) -> bool:
        """The host didn't take them (401). Whether others can be had now."""
        ...


def client_session() -> aiohttp.ClientSession:
    """The HTTP client that `GitHost` needs: bytes as they are, nothing remembered, no short cut-off."""
    return aiohttp.ClientSession(
        auto_decompress=False,
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_S, sock_read=_SILENCE_S),
    )


def request_headers(sent: Mapping[str, str]) -> dict[str, str]:
    """What of a sandbox's request headers goes on to the host, with our own."""
    headers: dict[str, str] = {hdrs.USER_AGENT: USER_AGENT, hdrs.ACCEPT_ENCODING: "identity"}
    protocol = sent.get("Git-Protocol", "")
    if _GIT_PROTOCOL.fullmatch(protocol):
        headers["Git-Protocol"] = protocol
    return headers


def headers_of(request: web.Request) -> dict[str, str]:
    """What goes on with the body of a sandbox's request, which is inflated when it came packed."""
    headers = request_headers(request.headers)
    length = request.headers.get(hdrs.CONTENT_LENGTH)
    if length and hdrs.CONTENT_ENCODING not in request.headers:  # an inflated body is of any length
        headers[hdrs.CONTENT_LENGTH] = length
    return headers


class GitHost:
    """Speaks smart HTTP to the hosts that grants name."""

    def __init__(self, http: aiohttp.ClientSession, credentials: RepositoryCredentials) -> None:
        self._http = http
        self._credentials = credentials

    @asynccontextmanager
    async def advertisement(
        self, grant: RepoGrant, service: Service, headers: Mapping[str, str]
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """The host's answer to `info/refs`, checked to be one. Raises: as `request`."""
        url = (_repository(grant) / "info" / "refs").with_query(service=service)
        kind = f"application/x-{service}-advertisement"
        async with self._request(grant, hdrs.METH_GET, url, headers, kind=kind) as answer:
            yield answer

    @asynccontextmanager
    async def request(
        self,
        grant: RepoGrant,
        service: Service,
        headers: Mapping[str, str],
        body: AsyncIterable[bytes] | bytes,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """The host's answer to a request of `service`, checked to be one; read inside the block.

        Raises: Unavailable when the host can't be reached, breaks off or is busy, Forbidden when
        it refuses our credential, NotFound, Malformed when it answers anything else.
        """
        url = _repository(grant) / service
        sent = {**headers, hdrs.CONTENT_TYPE: f"application/x-{service}-request"}
        kind = f"application/x-{service}-result"
        async with self._request(grant, hdrs.METH_POST, url, sent, kind=kind, body=body) as answer:
            yield answer

    async def listing(
        self, grant: RepoGrant, hash_name: Hash, wanted: frozenset[bytes] = frozenset()
    ) -> Listing:
        """What the host has. Raises: as `request`; Malformed when it isn't a list of refs."""
        headers = request_headers({"Git-Protocol": "version=2"})
        reader = ListingReader(wanted)
        question = encode_question(hash_name)
        try:
            async with self.request(grant, "git-upload-pack", headers, question) as answer:
                async for chunk in answer.content.iter_any():
                    reader.feed(chunk)
            return reader.listing()
        except ProtocolError as error:
            raise Malformed(str(error)) from error

    async def hash_name(self, grant: RepoGrant) -> Hash:
        """How the repository names objects. Raises: as `request`."""
        headers = request_headers({"Git-Protocol": "version=2"})
        async with self.advertisement(grant, "git-upload-pack", headers) as answer:
            told = await answer.content.read(_TOLD_BYTES)
        return "sha256" if b"object-format=sha256" in told else "sha1"

    @staticmethod
    def address(grant: RepoGrant) -> str:
        """The repository's URL, with nothing in it that could be secret."""
        return str(_repository(grant))

    async def secret_for(self, grant: RepoGrant) -> Mapping[str, str]:
        """The headers that open the repository for git itself. Raises: Forbidden, Unavailable."""
        return await self._credentials.headers_for(grant, hdrs.METH_POST)

    @asynccontextmanager
    async def _request(
        self,
        grant: RepoGrant,
        method: str,
        url: URL,
        headers: Mapping[str, str],
        *,
        kind: str,
        body: AsyncIterable[bytes] | bytes | None = None,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        sent = body if body is None or isinstance(body, bytes) else _Breakable(body)
        try:
            for first in (True, False):
                secret = await self._credentials.headers_for(grant, method)
                async with (
                    sent.scope if isinstance(sent, _Breakable) else nullcontext(),
                    self._http.request(
                        method,
                        url,
                        headers={**headers, **secret},
                        data=sent,
                        allow_redirects=False,
                    ) as answer,
                ):
                    if first and self._may_ask_again(grant, answer, sent):
                        continue
                    _check(grant, answer, kind)
                    yield answer
                    return
        except (aiohttp.ClientError, TimeoutError, ConnectionError) as error:
            raise Unavailable(
                f"the git host of {grant.name} can't be reached or broke off: "
                f"{type(error).__name__}; try again later"
            ) from error

    def _may_ask_again(
        self, grant: RepoGrant, answer: aiohttp.ClientResponse, sent: "bytes | _Breakable | None"
    ) -> bool:
        """Whether the credential has ended before its time, there is a new one, and the body is there yet."""
        ended = answer.status == HTTPStatus.UNAUTHORIZED and self._credentials.refused(grant)
        return ended and not isinstance(sent, _Breakable)


class _Breakable:
    """A body; when it breaks off, so does `scope`, by TimeoutError.

    By itself the HTTP client would go on to wait for the rest of an answer that has begun.
    """

    def __init__(self, body: AsyncIterable[bytes]) -> None:
        self._body = body
        self.scope = asyncio.timeout(None)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._body:
                yield chunk
        except Exception:
            self.scope.reschedule(asyncio.get_running_loop().time())
            raise


def _repository(grant: RepoGrant) -> URL:
    return URL(grant.url.rstrip("/")).with_user(None).with_query(None).with_fragment(None)


def _check(grant: RepoGrant, answer: aiohttp.ClientResponse, kind: str) -> None:
    host = f"the git host of {grant.name}"
    if answer.status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        # Passed on as it is, git would ask the agent for a password.
        raise Forbidden(f"{host} refused the door's credential; a person must look at it")
    if answer.status == HTTPStatus.NOT_FOUND:
        raise NotFound(f"{host} knows no such repository, or hides it from the door's credential")
    busy = answer.status == HTTPStatus.TOO_MANY_REQUESTS
    if busy or answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        raise Unavailable(f"{host} answered {answer.status}; try again later")
    if answer.status != HTTPStatus.OK or answer.content_type != kind:
        raise Malformed(
            f"{host} answered {answer.status} with {answer.content_type}, which is not git's "
            "smart HTTP; a person must look at the repository's address"
        )
