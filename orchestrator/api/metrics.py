"""`/metrics`, for Prometheus."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from aiohttp import web

PATH = "/metrics"


@dataclass(frozen=True, slots=True)
class MetricsRoutes:
    """The one route that a token of its own opens, and which opens nothing else."""

    render: Callable[[], Awaitable[bytes]]

    def routes(self) -> list[web.RouteDef]:
        return [web.get(PATH, self.metrics)]

    async def metrics(self, _request: web.Request) -> web.Response:
        """Metrics in Prometheus' text format; `keys/metrics.token` opens it too, and nothing else."""
        return web.Response(
            body=await self.render(),
            headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"},
        )
