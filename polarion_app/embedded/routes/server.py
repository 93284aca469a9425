"""The server itself, users and their tokens, projects and the jobs that make them."""

from http import HTTPStatus
from typing import Any

from aiohttp import web

from polarion_app.embedded import bodies, values
from polarion_app.embedded.documents import Resource
from polarion_app.embedded.errors import bad_request, forbidden
from polarion_app.embedded.records import projects, revisions, tokens, users
from polarion_app.embedded.routes.call import (
    EMBEDDED,
    PREFIX,
    Call,
    Route,
    answer,
    created,
    no_content,
)

MAX_TOKEN_NAME = 100


async def metadata(call: Call) -> web.StreamResponse:
    options = call.api.options
    limits = {
        "defaultPageSize": options.default_page_size,
        "maxPageSize": options.max_page_size,
        "maxRelationshipSize": 100,
        "maxIncludedSize": 500,
        "bodySizeLimit": options.body_size_limit,
    }
    attributes = {
        "version": options.version,
        "build": "sandgate-embedded",
        "node": "embedded",
        "timezone": options.timezone,
        "apiProperties": limits,
    }
    data = {"type": "metadata", "id": "metadata", "attributes": attributes}
    return answer({"links": {"self": f"{call.base}/metadata"}, "data": data})


async def me(call: Call) -> web.StreamResponse:
    return await _user(call, call.caller.user)


async def get_user(call: Call) -> web.StreamResponse:
    return await _user(call, call.path("u"))


async def list_users(call: Call) -> web.StreamResponse:
    if call.param("query"):
        raise bad_request("Users can't be queried at this server.", parameter="query")
    size, number = call.page_at
    return call.page(await call.read(lambda db: users.listed(db, call.base, size, number)))


async def create_users(call: Call) -> web.StreamResponse:
    call.caller.require_manager()
    sent = bodies.many(await call.json(), "users")
    model = call.api.model
    ids = await call.write(lambda change: [users.create(change, one, model) for one in sent])
    return created(
        [Resource("users", one, links={"self": f"{call.base}/users/{one}"}) for one in ids]
    )


async def patch_user(call: Call) -> web.StreamResponse:
    call.caller.require_manager()
    sent = bodies.one(await call.json(), "users")
    user = call.path("u")
    await call.write(lambda change: users.update(change, user, sent, call.api.model))
    return no_content()


async def make_token(call: Call) -> web.StreamResponse:
    """Body `{"name": "...", "expires": "2027-01-01T00:00:00Z" or absent}`; the text is shown once."""
    call.caller.require_manager()
    user = call.path("u")
    name, expires = _token_wishes(await call.json())

    def work(change: Any) -> tuple[int, str]:
        users.find(change.db, user)
        return tokens.make(change, user, name, expires)

    token_id, token = await call.write(work)
    data = {
        "type": "tokens",
        "id": f"{user}/{token_id}",
        "attributes": {"name": name, "expires": expires, "token": token},
    }
    return answer({"data": data}, HTTPStatus.CREATED)


async def list_tokens(call: Call) -> web.StreamResponse:
    if call.path("u") != call.caller.user:
        call.caller.require_manager()
    found = await call.read(lambda db: tokens.of_user(db, call.path("u")))
    rows = [{"type": one.type, "id": one.id, "attributes": dict(one.attributes)} for one in found]
    return answer({"data": rows, "meta": {"totalCount": len(rows)}})


async def revoke_token(call: Call) -> web.StreamResponse:
    call.caller.require_manager()
    await call.write(lambda change: tokens.revoke(change, call.path("u"), call.path("t")))
    return no_content()


async def list_projects(call: Call) -> web.StreamResponse:
    size, number = call.page_at
    return call.page(
        await call.read(lambda db: projects.listed(db, call.base, call.caller, size, number))
    )


async def get_project(call: Call) -> web.StreamResponse:
    return call.one(
        await call.read(lambda db: projects.resource(call.base, call.project(db, "GET")))
    )


async def patch_project(call: Call) -> web.StreamResponse:
    call.caller.require_manager()
    sent = bodies.one(await call.json(), "projects")
    await call.write(lambda change: projects.update(change, call.path("p"), sent))
    return no_content()


async def create_project(call: Call) -> web.StreamResponse:
    """Polarion answers with a job and makes the project later; here it is there already."""
    call.caller.require_manager()
    body = await call.json()
    if not isinstance(body, dict):
        raise bad_request("An object is expected.", pointer="$")
    project = values.string(body.get("projectId"), "$.projectId")
    prefix = values.string(body.get("trackerPrefix", project), "$.trackerPrefix")
    kind = values.string(body.get("templateId") or "work", "$.templateId")
    params = body.get("params")
    name = params.get("name", project) if isinstance(params, dict) else project
    name = values.string(name, "$.params.name")

    def work(change: Any) -> str:
        projects.create(change, project, name, prefix, kind)
        return projects.add_finished_job(
            change, "Create project", f"Project '{project}' was created."
        )

    job = await call.write(work)
    links = {"self": f"{call.base}/jobs/{job}"}
    data = {"type": "jobs", "id": job, "attributes": {"jobId": job}, "links": links}
    return answer({"data": data}, HTTPStatus.ACCEPTED)


async def get_job(call: Call) -> web.StreamResponse:
    if not call.caller.manages:
        raise forbidden("Jobs are for administrators.")
    found = await call.read(lambda db: projects.job(db, call.base, call.path("j")))
    data = {"type": found.type, "id": found.id, "attributes": dict(found.attributes)}
    return answer({"links": dict(found.links), "data": data})


async def get_revision(call: Call) -> web.StreamResponse:
    repository, number = call.path("r"), call.path("n")
    return call.one(
        await call.read(lambda db: revisions.resource(db, call.base, repository, number))
    )


def _token_wishes(body: Any) -> tuple[str, str | None]:
    if not isinstance(body, dict):
        raise bad_request("An object is expected.", pointer="$")
    name = values.string(body.get("name"), "$.name")
    if not 1 <= len(name) <= MAX_TOKEN_NAME:
        raise bad_request(f"A token's name has 1 to {MAX_TOKEN_NAME} characters.", pointer="$.name")
    expires = body.get("expires")
    return name, None if expires is None else values.date_time(expires, "$.expires")


async def _user(call: Call, user: str) -> web.StreamResponse:
    return call.one(await call.read(lambda db: users.resource(db, call.base, users.find(db, user))))


ROUTES: tuple[Route, ...] = (
    ("GET", f"{PREFIX}/metadata", metadata),
    ("GET", f"{PREFIX}/user", me),
    ("GET", f"{PREFIX}/users", list_users),
    ("POST", f"{PREFIX}/users", create_users),
    ("GET", f"{PREFIX}/users/{{u}}", get_user),
    ("PATCH", f"{PREFIX}/users/{{u}}", patch_user),
    ("GET", f"{PREFIX}/projects", list_projects),
    ("POST", f"{PREFIX}/projects/actions/createProject", create_project),
    ("GET", f"{PREFIX}/projects/{{p}}", get_project),
    ("PATCH", f"{PREFIX}/projects/{{p}}", patch_project),
    ("GET", f"{PREFIX}/jobs/{{j}}", get_job),
    ("GET", f"{PREFIX}/revisions/{{r}}/{{n}}", get_revision),
    # Ours: real Polarion makes tokens in its user interface only.
    ("GET", f"{EMBEDDED}/users/{{u}}/tokens", list_tokens),
    ("POST", f"{EMBEDDED}/users/{{u}}/tokens", make_token),
    ("DELETE", f"{EMBEDDED}/users/{{u}}/tokens/{{t}}", revoke_token),
)
