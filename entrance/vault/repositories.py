"""The git counter's credentials, out of the vault."""

from collections.abc import Mapping

from entrance.errors import Forbidden, NotFound
from entrance.session import RepoGrant
from entrance.vault.vault import Vault

_PATHS = {"GET": "/info/refs", "POST": "/git-receive-pack"}


class VaultRepositories:
    """Implements the git proxy's `RepositoryCredentials`: the secret that the grant itself names."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    async def headers_for(self, grant: RepoGrant, method: str) -> Mapping[str, str]:
        """Headers for a request below `grant.url`; none when the grant names no credential.

        Raises: Forbidden when the secret is missing, or not for this host and method; Malformed;
        Unavailable.
        """
        if grant.credential is None:
            return {}
        url = grant.url.rstrip("/") + _PATHS.get(method, "")
        try:
            return await self._vault.headers_for(grant.credential, method, url)
        except NotFound as error:
            raise Forbidden(str(error)) from error
