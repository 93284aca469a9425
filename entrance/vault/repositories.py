"""The credentials of granted repositories, out of the vault: for git, and for their host's API."""

from collections.abc import Mapping

from entrance.decision import Allow, Deny
from entrance.errors import Forbidden, NotFound
from entrance.session import RepoGrant, RunId
from entrance.vault.credentials import SecretHeaders
from entrance.vault.installation import InstallationTokens, Purpose, tokens_of
from entrance.vault.vault import Vault

_PATHS = {"GET": "/info/refs", "POST": "/git-receive-pack"}
_APP = "app-jwt"


class VaultRepositories:
    """Implements the git proxy's `RepositoryCredentials`: the secret that the grant itself names.

    Where that is an App's key, a token that is made of it for the grant's run.
    """

    def __init__(self, vault: Vault, tokens: InstallationTokens | None = None) -> None:
        """Without `tokens` an App's key opens nothing."""
        self._vault = vault
        self._tokens = tokens

    async def headers_for(self, grant: RepoGrant, method: str) -> Mapping[str, str]:
        """Headers for a request below `grant.url`; none when the grant names no credential.

        Raises: Forbidden when the secret is missing, or not for this host and method; Malformed;
        Unavailable.
        """
        if grant.credential is None:
            return {}
        url = grant.url.rstrip("/") + _PATHS.get(method, "")
        return await self._headers(grant, _purpose(grant), method, url)

    async def headers_for_api(self, grant: RepoGrant, method: str, url: str) -> SecretHeaders:
        """Headers for a request to `url`, of the API of the grant's host, about pull requests.

        Raises: as `headers_for`; Forbidden also when the grant names no credential.
        """
        if grant.credential is None:
            raise Forbidden(f"{grant.name} has no credential, and its host's API needs one")
        return await self._headers(grant, "propose", method, url)

    def refused(self, grant: RepoGrant) -> bool:
        """The host didn't take what it was shown: whether a new token can be made for the grant."""
        return self._tokens is not None and self._tokens.drop(grant)

    async def may_propose(self, grant: RepoGrant, url: str) -> Allow | Deny:
        """Whether the grant's credential may open pull requests at `url`, as far as the vault knows.

        Raises: NotFound, Malformed, Unavailable.
        """
        binding = await self._vault.binding(grant.credential or "")
        binding = tokens_of(binding) if binding.scheme == _APP else binding
        return binding.allows("POST", url)

    async def forget(self, run: RunId) -> None:
        """Revoke what was made for a run."""
        if self._tokens is not None:
            await self._tokens.revoke(run)

    async def _headers(
        self, grant: RepoGrant, purpose: Purpose, method: str, url: str
    ) -> SecretHeaders:
        name = grant.credential or ""
        try:
            if (await self._vault.binding(name)).scheme != _APP:
                return await self._vault.headers_for(name, method, url)
            if self._tokens is None:
                raise Forbidden(f"secret {name!r} is an App's key, which opens nothing by itself")
            return await self._tokens.headers_for(grant, purpose, method, url)
        except NotFound as error:
            raise Forbidden(str(error)) from error


def _purpose(grant: RepoGrant) -> Purpose:
    if not grant.push:
        return "fetch"
    return "release" if grant.released else "push"
