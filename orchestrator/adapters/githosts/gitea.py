"""Pull requests at Gitea and Forgejo."""

from dataclasses import dataclass

from orchestrator.adapters.githosts.api import Api, at, proposed
from orchestrator.adapters.githosts.found import Found
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
                return Found(proposed(row, "number", "html_url"), str(row.get("body") or ""))
        return None

    async def create(self, wanted: Proposal) -> Proposed:
        """Raises: Conflict when there is one already."""
        body = {
            "title": wanted.title,
            "head": wanted.branch,
            "base": wanted.base,
            "body": wanted.body,
        }
        answer = await self.api.post(self._path, body)
        return proposed(answer.json, "number", "html_url")

    async def change(self, number: int, body: str) -> None:
        await self.api.patch(f"{self._path}/{number}", {"body": body})

    @property
    def _path(self) -> str:
        return f"repos/{self.api.grant.full_name}/pulls"
