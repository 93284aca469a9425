"""Pull requests at GitHub: github.com, and GitHub Enterprise Server."""

from dataclasses import dataclass

from entrance.errors import Conflict
from entrance.vault.installation import API_HEADERS
from entrance.vault.rest import Rejected
from orchestrator.adapters.githosts.api import Api, at, proposed
from orchestrator.adapters.githosts.found import Found
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
        try:
            answer = await self.api.post(self._path, body)
        except Rejected as error:
            if _DOUBLE in error.said:
                raise Conflict(str(error)) from error
            raise
        return proposed(answer.json, "number", "html_url")

    async def change(self, number: int, body: str) -> None:
        await self.api.patch(f"{self._path}/{number}", {"body": body})

    @property
    def _path(self) -> str:
        return f"repos/{self.api.grant.full_name}/pulls"
