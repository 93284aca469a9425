"""Pull requests at GitHub: github.com, and GitHub Enterprise Server."""

from dataclasses import dataclass

from entrance.errors import Conflict
from entrance.vault.installation import API_HEADERS
from entrance.vault.rest import Rejected
from orchestrator.adapters.githosts.api import Api, at
from orchestrator.adapters.githosts.found import Found
from orchestrator.adapters.githosts.pulls import body_of, found, path_of, read
from orchestrator.ports.githosts import Proposal, Proposed

HEADERS = API_HEADERS
_DOUBLE = "already exists"


@dataclass(frozen=True, slots=True)
class GitHub:
    """One repository there."""

    api: Api

    async def find(self, branch: str, base: str) -> Found | None:
        owner = self.api.grant.full_name.partition("/")[0]
        rows = self.api.rows(
            self._path, "per_page", state="open", head=f"{owner}:{branch}", base=base
        )
        async for row in rows:
            # An older server takes a filter that it doesn't know for none.
            if (at(row, "head", "ref"), at(row, "base", "ref")) == (branch, base):
                return found(row)
        return None

    async def create(self, wanted: Proposal) -> Proposed:
        """Raises: Conflict when there is one already."""
        try:
            answer = await self.api.post(self._path, body_of(wanted))
        except Rejected as error:
            if _DOUBLE in error.said:
                raise Conflict(str(error)) from error
            raise
        return read(answer.json)

    async def change(self, number: int, body: str) -> None:
        await self.api.patch(f"{self._path}/{number}", {"body": body})

    @property
    def _path(self) -> str:
        return path_of(self.api.grant)
