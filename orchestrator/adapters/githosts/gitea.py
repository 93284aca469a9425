"""Pull requests at Gitea and Forgejo."""

from dataclasses import dataclass

from orchestrator.adapters.githosts.api import Api, at
from orchestrator.adapters.githosts.found import Found
from orchestrator.adapters.githosts.pulls import body_of, found, path_of, read
from orchestrator.ports.githosts import Proposal, Proposed

HEADERS: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Gitea:
    """One repository there."""

    api: Api

    async def find(self, branch: str, base: str) -> Found | None:
        """Looked for in the list: by its branches it would stand in an address with slashes in it."""
        name = self.api.grant.full_name.lower()
        async for row in self.api.rows(self._path, "limit", state="open", sort="recentupdate"):
            same = (at(row, "head", "ref"), at(row, "base", "ref")) == (branch, base)
            if same and str(at(row, "head", "repo", "full_name") or name).lower() == name:
                return found(row)
        return None

    async def create(self, wanted: Proposal) -> Proposed:
        """Raises: Conflict when there is one already."""
        answer = await self.api.post(self._path, body_of(wanted))
        return read(answer.json)

    async def change(self, number: int, body: str) -> None:
        await self.api.patch(f"{self._path}/{number}", {"body": body})

    @property
    def _path(self) -> str:
        return path_of(self.api.grant)
