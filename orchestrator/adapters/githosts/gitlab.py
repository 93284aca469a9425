"""Merge requests at GitLab.

A project is named by its number: by its path it would stand in an address with encoded slashes, which
the vault takes for two ways to read one.
"""

from dataclasses import dataclass, field

from entrance.errors import NotFound
from orchestrator.adapters.githosts.api import Api, proposed
from orchestrator.adapters.githosts.found import Found
from orchestrator.ports.githosts import Proposal, Proposed

HEADERS: dict[str, str] = {}


@dataclass(slots=True)
class GitLab:
    """One project there."""

    api: Api
    _number: int = field(default=0, init=False)

    async def find(self, branch: str, base: str) -> Found | None:
        wanted = {"state": "opened", "source_branch": branch, "target_branch": base}
        async for row in self.api.rows(await self._path(), "per_page", **wanted):
            if (row.get("source_branch"), row.get("target_branch")) == (branch, base):
                said = str(row.get("description") or "")
                return Found(proposed(row, "iid", "web_url"), said)
        return None

    async def create(self, wanted: Proposal) -> Proposed:
        """Raises: Conflict when there is one already."""
        body = {
            "title": wanted.title,
            "source_branch": wanted.branch,
            "target_branch": wanted.base,
            "description": wanted.body,
        }
        answer = await self.api.post(await self._path(), body)
        return proposed(answer.json, "iid", "web_url")

    async def change(self, number: int, body: str) -> None:
        await self.api.put(f"{await self._path()}/{number}", {"description": body})

    async def _path(self) -> str:
        self._number = self._number or await self._project()
        return f"projects/{self._number}/merge_requests"

    async def _project(self) -> int:
        name = self.api.grant.full_name
        query = {"search": name, "search_namespaces": "true", "simple": "true"}
        rows = self.api.rows("projects", "per_page", membership="true", **query)
        async for row in rows:
            number = row.get("id")
            same = str(row.get("path_with_namespace", "")).lower() == name.lower()
            if same and isinstance(number, int) and number > 0:
                return number
        raise NotFound(f"{name}: GitLab knows no such project, or our token is no member of it")
