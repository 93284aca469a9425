"""Calls whoever looks after security, by a POST of JSON to a URL that an operator has named."""

import aiohttp
import stamina
from yarl import URL

from entrance.errors import Forbidden, Malformed, SandgateError, Unavailable
from orchestrator.domain.frozen import Frozen, in_words, told

TIMEOUT_S = 10.0
ATTEMPTS = 4
WAIT_S, LONGEST_WAIT_S = 0.5, 10.0
_AGAIN = frozenset({408, 425, 429})
_NOT_US = frozenset({401, 403})


class Webhook:
    """Implements `ports.Alerts`. The URL may hold a secret: it is neither logged nor in an error."""

    def __init__(
        self, http: aiohttp.ClientSession, url: str, installation: str, wait_s: float = WAIT_S
    ) -> None:
        self._http = http
        self._url = URL(url)
        self._installation = installation
        self._wait_s = wait_s

    async def frozen(self, frozen: Frozen) -> None:
        """Tell it; several times, if need be. Raises: Unavailable, Forbidden, Malformed."""
        body = {
            "event": "sandbox_frozen",
            "installation": self._installation,
            "run": frozen.run,
            "task": frozen.task,
            "text": f"Run {frozen.run} of {frozen.task}: {in_words(frozen)}",
            **told(frozen),
        }
        async for attempt in stamina.retry_context(
            on=Unavailable,
            attempts=ATTEMPTS,
            timeout=None,
            wait_initial=self._wait_s,
            wait_max=LONGEST_WAIT_S,
            wait_jitter=self._wait_s,
        ):
            with attempt:
                await self._post(body)

    async def _post(self, body: dict[str, str]) -> None:
        try:
            async with self._http.post(
                self._url,
                json=body,
                timeout=aiohttp.ClientTimeout(total=TIMEOUT_S),
                allow_redirects=False,
            ) as answer:
                error = _error_for(answer.status, self._url.host or "")
        except (aiohttp.ClientError, TimeoutError) as trouble:
            where = f"the webhook for alerts at {self._url.host}"
            raise Unavailable(f"{where} can't be reached: {type(trouble).__name__}") from trouble
        if error:
            raise error


def _error_for(status: int, host: str) -> SandgateError | None:
    said = f"the webhook for alerts at {host} answered {status}"
    if status in _AGAIN or status >= 500:  # noqa: PLR2004 - the 5xx range
        return Unavailable(said)
    if status in _NOT_US:
        return Forbidden(said)
    return Malformed(said) if status >= 300 else None  # noqa: PLR2004 - a redirect takes no alert
