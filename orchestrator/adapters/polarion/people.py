"""Users with their project roles, and projects."""

import asyncio
from collections.abc import Collection
from typing import Any

from entrance.errors import Malformed, NotFound, Unavailable
from orchestrator.adapters.polarion.address import Address, sparse
from orchestrator.adapters.polarion.locks import KeyedLocks
from orchestrator.adapters.polarion.paging import data_of, ids_of, pages
from orchestrator.adapters.polarion.resources import Project, User
from orchestrator.adapters.polarion.transport import Transport

PROJECT_CREATION_S = 120.0
POLL_S = 0.5

type ProjectRole = tuple[str, str]
"""A project and a role in it."""


class Users:
    """Users. Everything raises `entrance.errors`."""

    def __init__(self, api: Transport, address: Address, locks: KeyedLocks) -> None:
        self._api = api
        self._address = address
        self._locks = locks

    async def me(self) -> User:
        """Who the token belongs to (Polarion 2512 or newer)."""
        return await self._read(("user",), "asking who we are")

    async def get(self, user: str) -> User:
        """Raises: NotFound."""
        return await self._read(("users", user), f"reading user {user}")

    async def create(self, user: str, name: str, *, email: str = "") -> str:
        """Make a user without any project role. Raises: Conflict when the id is taken."""
        attributes = {"id": user, "name": name, "email": email}
        what = f"creating user {user}"
        body = {"data": [{"type": "users", "attributes": attributes}]}
        return ids_of(await self._api.post(self._address.of("users"), body, what), what)[0]

    async def set_project_roles(self, user: str, roles: Collection[ProjectRole]) -> None:
        """Give exactly these project roles: what isn't named is taken away."""
        async with self._locks.holding(f"user {user}"):
            await self._set_roles(user, roles)

    async def change_project_roles(
        self, user: str, *, add: Collection[ProjectRole] = (), remove: Collection[ProjectRole] = ()
    ) -> None:
        """Give and take single roles and leave the others. Reads and writes under one lock."""
        async with self._locks.holding(f"user {user}"):
            now = (await self.get(user)).project_roles
            wanted = (now - frozenset(remove)) | frozenset(add)
            if wanted != now:
                await self._set_roles(user, wanted)

    async def make_token(self, user: str, name: str) -> str:
        """A new access token of the user's, at the embedded server only. Raises: NotFound elsewhere."""
        what = f"making an access token for {user}"
        url = self._address.embedded("users", user, "tokens")
        data = data_of(await self._api.post(url, {"name": name}, what), what)
        token = (data.get("attributes") or {}).get("token")
        if not isinstance(token, str) or not token:
            raise Malformed(f"{what}: the answer holds no token")
        return token

    async def _read(self, path: tuple[str, ...], what: str) -> User:
        url = self._address.of(*path, query=sparse(users="@all"))
        return User.read(data_of(await self._api.get(url, what), what))

    async def _set_roles(self, user: str, roles: Collection[ProjectRole]) -> None:
        ids = [f"{project}/{role}" for project, role in sorted(roles)]
        data = {
            "type": "users",
            "id": user,
            "relationships": {
                "projectRoles": {"data": [{"type": "projectroles", "id": one} for one in ids]}
            },
        }
        url = self._address.of("users", user)
        await self._api.patch(url, {"data": data}, f"setting the project roles of {user}")


class Projects:
    """Projects. Everything raises `entrance.errors`."""

    def __init__(self, api: Transport, address: Address) -> None:
        self._api = api
        self._address = address

    async def get(self, project: str) -> Project:
        """Raises: NotFound, Forbidden."""
        what = f"reading project {project}"
        url = self._address.of("projects", project, query=sparse(projects="@all"))
        return Project.read(data_of(await self._api.get(url, what), what))

    async def readable(self) -> list[Project]:
        """Every project that the caller may read."""
        url = self._address.of("projects", query=sparse(projects="@all"))
        return [Project.read(row) async for row in pages(self._api, url, "reading the projects")]

    async def create(
        self, project: str, *, name: str = "", prefix: str = "", template: str = ""
    ) -> Project:
        """Make a project and wait until it is there. Raises: Conflict when the id is taken."""
        body: dict[str, Any] = {
            "projectId": project,
            "trackerPrefix": prefix or project,
            "location": f"/{project}",
            "templateId": template or None,
            "params": {"name": name or project},
        }
        url = self._address.of("projects", "actions", "createProject")
        await self._api.post(url, body, f"creating project {project}")
        try:
            async with asyncio.timeout(PROJECT_CREATION_S):
                return await self._until_there(project)
        except TimeoutError as error:
            raise Unavailable(
                f"project {project} was asked for, but isn't there after {PROJECT_CREATION_S:.0f} s"
            ) from error

    async def options(self, project: str, field: str, type_id: str = "~") -> list[str]:
        """The ids that a field may have. Polarion stores others silently: ask before a write.

        Raises: NotFound when it is no enumeration field.
        """
        url = self._address.of(
            *("projects", project, "workitems", "fields", field, "actions", "getAvailableOptions"),
            query={"type": type_id},
        )
        rows = pages(self._api, url, f"reading the options of {field}")
        return [str(row.get("id")) async for row in rows]

    async def _until_there(self, project: str) -> Project:
        while True:
            try:
                return await self.get(project)
            except NotFound:
                await asyncio.sleep(POLL_S)
