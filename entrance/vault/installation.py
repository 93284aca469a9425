"""Tokens of a GitHub App's installation: each for one run, one repository and one purpose.

A token is made when it is first needed, kept in memory until shortly before it ends, and revoked
when its run does. It never leaves the vault but on a request to a host that the App's key is for.
"""

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from http import HTTPStatus
from time import monotonic
from typing import Any, Literal

import aiohttp
import structlog

from entrance.decision import Deny
from entrance.errors import Forbidden, Malformed, SandgateError
from entrance.session import RepoGrant, RunId
from entrance.vault.credentials import Binding, Credential, SecretHeaders
from entrance.vault.kinds import KINDS
from entrance.vault.rest import Answer, Asked, Rejected, ask, dated
from entrance.vault.vault import Vault

log = structlog.get_logger()

type Purpose = Literal["fetch", "push", "release", "propose"]

PERMISSIONS: Mapping[Purpose, Mapping[str, str]] = {
    "fetch": {"contents": "read"},
    "push": {"contents": "write"},
    "release": {"contents": "write", "workflows": "write"},
    "propose": {"pull_requests": "write"},
}
"""What a token may do for each purpose; GitHub adds `metadata: read` to all of them.

It takes changes of workflows only from who may change those: that is for a person to let through.
"""
_LESS: Mapping[Purpose, Purpose] = {"release": "push"}
"""What does where the App was not given all that is asked for."""

LONGEST_S = 3600.0
SPARE_S = 600.0
"""A token isn't used in its last minutes: a long push must not outlive it."""
API_HEADERS = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
REVOKE_PATH = "/**/installation/token"
_TOKEN = re.compile(r"[!-~]{8,1024}")
_CHANGES = frozenset({"write", "admin"})
_WHICH = "repository_selection"


@dataclass(frozen=True, slots=True)
class _Key:
    run: RunId
    url: str
    purpose: Purpose


@dataclass(frozen=True, slots=True)
class _Made:
    credential: Credential
    api: str
    until: float


@dataclass
class InstallationTokens:
    """Makes, keeps and revokes them. `clock` counts seconds."""

    vault: Vault
    http: aiohttp.ClientSession
    clock: Callable[[], float] = monotonic
    _made: dict[_Key, _Made] = field(default_factory=dict, repr=False)
    _making: dict[_Key, asyncio.Lock] = field(default_factory=dict, repr=False)

    async def headers_for(
        self, grant: RepoGrant, purpose: Purpose, method: str, url: str
    ) -> SecretHeaders:
        """Headers for a request about the grant's repository, with a token for this purpose.

        Raises: Forbidden when the App's key is not for this host, or the App may not do this there;
        NotFound when it isn't installed there; Malformed; Unavailable.
        """
        app = grant.credential or ""
        binding = tokens_of(await self.vault.binding(app))
        allowed = binding.allows(method, url)
        if isinstance(allowed, Deny):
            raise Forbidden(f"secret {app!r}: {allowed.reason}")
        key = _Key(grant.run, grant.url, purpose)
        async with self._making.setdefault(key, asyncio.Lock()):
            made = self._made.get(key)
            if made is None or self.clock() >= made.until:
                made = self._made[key] = await self._make(grant, purpose, binding)
        return made.credential.headers(url)

    def drop(self, grant: RepoGrant) -> bool:
        """Forget the grant's tokens, which the host takes no more; whether there were any."""
        ours = [key for key in self._made if (key.run, key.url) == (grant.run, grant.url)]
        for key in ours:
            del self._made[key]
        return bool(ours)

    async def revoke(self, run: RunId) -> None:
        """Forget a run's tokens, and have the host forget them. One it can't be told of ends by itself."""
        for key in [key for key in self._making if key.run == run]:
            async with self._making[key]:  # one that is being made is revoked, too
                made = self._made.pop(key, None)
            self._making.pop(key, None)
            if made and self.clock() < made.until + SPARE_S:
                await self._revoke(made, run)

    async def _revoke(self, made: _Made, run: RunId) -> None:
        url = f"{made.api}/installation/token"
        asked = Asked("DELETE", url, "revoking a token", headers=API_HEADERS)
        try:
            await ask(self.http, asked, made.credential.headers(url))
        except SandgateError as error:
            log.warning("token_not_revoked", run=run, error=str(error))

    async def _make(self, grant: RepoGrant, purpose: Purpose, binding: Binding) -> _Made:
        if not grant.api or grant.full_name.count("/") != 1:
            raise Forbidden(f"{grant.name}: an App opens repositories of GitHub only")
        name = grant.full_name.partition("/")[2]
        body = {"repositories": [name], "permissions": dict(PERMISSIONS[purpose])}
        path = f"app/installations/{await self._installation(grant)}/access_tokens"
        asked_at = self.clock()
        try:
            answer = await self._as_app(grant, "POST", path, body)
        except Rejected as error:  # the App has not been given this permission there
            if less := _LESS.get(purpose):
                return await self._make(grant, less, binding)
            raise Forbidden(str(error)) from error
        return _read(answer, grant, purpose, binding, asked_at)

    async def _installation(self, grant: RepoGrant) -> int:
        answer = await self._as_app(grant, "GET", f"repos/{grant.full_name}/installation")
        found = answer.json.get("id") if isinstance(answer.json, dict) else None
        if not isinstance(found, int) or isinstance(found, bool):
            raise Malformed(f"{grant.name}: GitHub's answer names no installation of the App")
        return found

    async def _as_app(
        self, grant: RepoGrant, method: str, path: str, body: Mapping[str, Any] | None = None
    ) -> Answer:
        url = f"{grant.api}/{path}"
        what = f"a token for {grant.name} from the App {grant.credential}"
        secret = await self.vault.headers_for(grant.credential or "", method, url)
        return await ask(self.http, Asked(method, url, what, body, API_HEADERS), secret)


def tokens_of(app: Binding) -> Binding:
    """Where an App's tokens may go: to the hosts of its key, to GitHub's paths."""
    kind = KINDS["github"]
    return Binding(
        kind.scheme,
        app.hosts,
        kind.methods | {"DELETE"},
        (*kind.paths, REVOKE_PATH),
        kind.argument,
    )


def _read(
    answer: Answer, grant: RepoGrant, purpose: Purpose, binding: Binding, asked_at: float
) -> _Made:
    """The token of an answer, if it is as narrow as was asked. Raises: Malformed."""
    told = answer.json if isinstance(answer.json, dict) else {}
    token, ends = told.get("token"), told.get("expires_at")
    if answer.status != HTTPStatus.CREATED or not isinstance(token, str):
        raise Malformed(f"{grant.name}: GitHub's answer holds no token")
    if not _TOKEN.fullmatch(token) or not _is_narrow(told, grant, purpose):
        raise Malformed(f"{grant.name}: GitHub's token is for more than was asked; it is not used")
    try:
        lasts_s = (datetime.fromisoformat(str(ends)) - dated(answer.headers)).total_seconds()
    except (ValueError, TypeError) as error:
        raise Malformed(f"{grant.name}: GitHub's answer doesn't say when the token ends") from error
    # Counted from before the question, by the host's own clock: ours may be wrong.
    until = asked_at + min(lasts_s, LONGEST_S) - SPARE_S
    return _Made(
        Credential(f"{grant.credential} for {grant.run}", binding, token), grant.api, until
    )


def _is_narrow(told: Mapping[str, Any], grant: RepoGrant, purpose: Purpose) -> bool:
    given, repositories = told.get("permissions") or {}, told.get("repositories")
    names = [str(one.get("full_name", "")).lower() for one in repositories or () if one]
    more = {name for name, level in given.items() if level in _CHANGES}
    # Some servers don't list what a token is for, and then say at least whether it is all there is.
    narrow = names == [grant.full_name.lower()] if names else told.get(_WHICH) != "all"
    return more <= PERMISSIONS[purpose].keys() and narrow
