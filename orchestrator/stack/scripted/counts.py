"""`/served`: what was served, for whoever wants to compare it with what was metered."""

from collections.abc import Sequence

from aiohttp import web

from orchestrator.stack.scripted import keys
from orchestrator.stack.scripted.served import Served


def routes(served: Served, api_key: str | None) -> Sequence[web.RouteDef]:
    """GET and DELETE `/served`, GET `/served/answers`; with `api_key` only for who shows it."""

    async def total(request: web.Request) -> web.StreamResponse:
        return _refused(request) or web.json_response(served.as_json())

    async def clear(request: web.Request) -> web.StreamResponse:
        if refusal := _refused(request):
            return refusal
        served.clear()
        return web.json_response(served.as_json())

    async def one_by_one(request: web.Request) -> web.StreamResponse:
        names = {name: value for name, value in request.query.items() if name != "key"}
        found = [*served.one_by_one(names)]
        return _refused(request) or web.json_response({"answers": found})

    def _refused(request: web.Request) -> web.Response | None:
        if api_key is None or keys.shows(request, api_key):
            return None
        return web.json_response({"error": {"message": keys.REFUSED}}, status=401)

    return [
        web.get("/served", total),
        web.delete("/served", clear),
        web.get("/served/answers", one_by_one),
    ]
