"""The models that are known here."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from entrance.model.prices import PriceList
from entrance.model.provider import Provider
from entrance.vault.vault import Vault
from orchestrator.domain.catalogue import Model, catalogue
from orchestrator.ports import Tracker


@dataclass(frozen=True, slots=True)
class ModelRoutes:
    """The route below `/api` that tells of models."""

    tracker: Tracker
    vault: Vault
    prices: PriceList
    providers: Mapping[str, Provider]

    def routes(self) -> list[web.RouteDef]:
        return [web.get("/api/models", self.models)]

    async def models(self, _request: web.Request) -> web.Response:
        """Known models: `[{model, provider, dialect, missing, rates, as_of, granted, callable}]`.

        `rates` are US dollars per million tokens, as text; none: no price. `missing`: what the
        provider needs here, `address` or `key`, or nothing.
        """
        known = catalogue(
            self.prices,
            self.providers,
            await self.vault.names(),
            await self.tracker.engagements(),
        )
        return web.json_response([_shown(model) for model in known])


def _shown(model: Model) -> dict[str, Any]:
    return {
        "model": model.name,
        "provider": model.provider,
        "dialect": model.dialect,
        "missing": model.missing,
        "rates": [
            {
                "above_prompt_tokens": row.above_prompt_tokens,
                "input": f"{row.input:f}",
                "cache_read": f"{row.cache_read:f}",
                "cache_write": f"{row.cache_write:f}",
                "output": f"{row.output:f}",
            }
            for row in model.rates
        ],
        "as_of": model.as_of,
        "granted": [
            {"engagement": one.engagement, "project": one.project, "agent": one.agent}
            for one in model.granted
        ],
        "callable": model.callable,
    }
