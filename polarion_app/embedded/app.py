"""The whole server as one aiohttp application: the only place where its parts meet."""

from collections.abc import AsyncIterator, Callable
from datetime import datetime
from pathlib import Path

from aiohttp import web

from polarion_app.config import DataModel
from polarion_app.embedded.database import Change, Database
from polarion_app.embedded.files import Files
from polarion_app.embedded.gate import HEALTH, acceptable, authenticated, errors_as_json
from polarion_app.embedded.options import Options
from polarion_app.embedded.permissions import ADMIN_ROLE
from polarion_app.embedded.records import attachments as attachment_records
from polarion_app.embedded.records import projects, tokens
from polarion_app.embedded.routes import attachments, enumerations, server, threads, workitems
from polarion_app.embedded.routes.call import API, Api, routed

ADMIN = "admin"
ADMIN_TOKEN_NAME = "installation"  # noqa: S105 - a name
AGENT_POOL = "AGENTS"
ROUTES = (
    *server.ROUTES,
    # Before the routes of one item: `fields` and `actions` stand where an item's id may stand.
    *enumerations.ROUTES,
    *workitems.ROUTES,
    *threads.ROUTES,
    *attachments.ROUTES,
)


def create_app(
    folder: Path, admin_token: str, model: DataModel, options: Options, now: Callable[[], datetime]
) -> web.Application:
    """The server over the data in `folder`; `admin_token` is the administrator's access token.

    On start-up it makes what is missing: the administrator and the Agent Pool project.
    """
    app = web.Application(
        middlewares=[errors_as_json, authenticated, acceptable],
        client_max_size=options.body_size_limit,
    )
    database = Database(folder, now)
    app[API] = Api(database, Files(folder / "attachments"), model, options)

    async def running(app: web.Application) -> AsyncIterator[None]:
        await database.open()
        try:
            await database.write(ADMIN, lambda change: _found(change, admin_token))
            app[API].files.keep_only(await database.read(attachment_records.known_files))
            yield
        finally:
            await database.close()

    app.cleanup_ctx.append(running)
    app.router.add_get(HEALTH, _health)
    for method, path, handler in ROUTES:
        app.router.add_route(method, path, routed(handler))
    return app


async def _health(_: web.Request) -> web.Response:
    return web.json_response({"status": "ok"})


def _found(change: Change, admin_token: str) -> None:
    """Make what every installation needs, and let the administrator in by this token only."""
    change.db.execute("INSERT OR IGNORE INTO user (id, name) VALUES (?, 'Administrator')", (ADMIN,))
    change.db.execute("INSERT OR IGNORE INTO user_role VALUES (?, '', ?)", (ADMIN, ADMIN_ROLE))
    change.db.execute("DELETE FROM token WHERE user = ? AND name = ?", (ADMIN, ADMIN_TOKEN_NAME))
    tokens.add(change, ADMIN, ADMIN_TOKEN_NAME, admin_token)
    if not change.db.execute("SELECT 1 FROM project WHERE id = ?", (AGENT_POOL,)).fetchone():
        projects.create(change, AGENT_POOL, "Agent Pool", "AG", "agent_pool")
