"""Who the caller is and what their roles allow [pure]. No role in a project: nothing there."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from polarion_app.config.model import DataModel, Role, Verb
from polarion_app.embedded.errors import forbidden

ADMIN_ROLE = "admin"


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated user with the roles they hold, already looked up in the data model."""

    user: str
    global_roles: tuple[Role, ...]
    project_roles: Mapping[str, tuple[Role, ...]]

    @property
    def manages(self) -> bool:
        """May manage users, tokens and projects."""
        return any(role.manages for role in self.global_roles)

    @property
    def reads_everything(self) -> bool:
        return any("GET" in role.verbs for role in self.global_roles)

    @property
    def readable_projects(self) -> tuple[str, ...]:
        """Projects that a project role opens for reading (global roles open all of them)."""
        return tuple(
            p for p, roles in self.project_roles.items() if any("GET" in r.verbs for r in roles)
        )

    def roles_in(self, project: str) -> tuple[Role, ...]:
        return (*self.global_roles, *self.project_roles.get(project, ()))

    def may(self, verb: Verb, project: str) -> bool:
        return any(verb in role.verbs for role in self.roles_in(project))

    def require(self, verb: Verb, project: str) -> None:
        """Raises: ApiError 403 when no role allows `verb` in `project`."""
        if not self.may(verb, project):
            raise forbidden(f"User '{self.user}' may not {verb} in project '{project}'.")

    def require_manager(self) -> None:
        """Raises: ApiError 403 for everyone but administrators."""
        if not self.manages:
            raise forbidden(f"User '{self.user}' may not manage users, tokens or projects.")

    def sets_status(self, project: str) -> bool:
        return any(role.sets_status for role in self.roles_in(project))

    def holds_one_of(self, role_ids: Iterable[str], project: str) -> bool:
        """Whether one of the roles is held in the project; an administrator holds them all."""
        return self.manages or any(
            role.id in role_ids for role in self.project_roles.get(project, ())
        )


def caller_of(
    user: str, global_ids: Iterable[str], project_ids: Iterable[tuple[str, str]], model: DataModel
) -> Caller:
    """The caller with these role ids (`project_ids`: project, role). Unknown roles give nothing."""
    by_project: dict[str, tuple[Role, ...]] = {}
    for project, role_id in project_ids:
        role = model.roles.get(role_id)
        if role is not None and role.scope == "project":
            by_project[project] = (*by_project.get(project, ()), role)
    held = (model.roles.get(role_id) for role_id in global_ids)
    return Caller(user, tuple(r for r in held if r and r.scope == "global"), by_project)
