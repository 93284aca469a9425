"""Which request is whose: the contract as one table."""

import re
from collections.abc import Iterable
from dataclasses import replace

from execd.answer import Answer, Handler, Request
from execd.errors import Refused
from execd.proxy import proxy

Route = tuple[str, str, Handler]
_PROXIED = re.compile(r"/proxy/([^/?]*)(.*)", re.DOTALL)


class Routes:
    """Finds the handler of a request. `port` is execd's own: /proxy/<port>/ leads back here."""

    def __init__(self, table: Iterable[Route], port: int) -> None:
        self._table = [(method, re.compile(path), handler) for method, path, handler in table]
        self._own = str(port)

    async def handle(self, request: Request) -> Answer:
        """Answer a request. Raises: Refused 404, 405; what the handler raises."""
        target = request.target
        while match := _PROXIED.fullmatch(target):
            port, rest = match[1], match[2]
            target = rest if rest.startswith("/") else f"/{rest}"
            if port != self._own:
                return await proxy(request, port, target)
        return await self._contract(request if target == request.target else request.at(target))

    async def _contract(self, request: Request) -> Answer:
        allowed = []
        for method, path, handler in self._table:
            match = path.fullmatch(request.path)
            if match and method == request.head.method:
                return await handler(replace(request, args=match.groups()))
            if match:
                allowed.append(method)
        if allowed:
            raise Refused(405, "METHOD_NOT_ALLOWED", f"{request.path} takes {', '.join(allowed)}")
        raise Refused(404, "NOT_FOUND", f"execd has no {request.path[:200]!r}")
