"""What the egress proxy says of itself, for `doctor`."""

import aiohttp
from pydantic import BaseModel, ValidationError

from entrance.errors import Unavailable

PATH = "/.sandgate/status"
PATIENCE = aiohttp.ClientTimeout(total=5)


class _State(BaseModel):
    generation: int
    sandboxes: int
    trouble: str
    recorder: bool
    outcomes_waiting: int


async def check_proxy(url: str) -> str:
    """How it is, in words. Raises: Unavailable when it doesn't answer, or lets nothing out."""
    try:
        async with (
            aiohttp.ClientSession(timeout=PATIENCE, trust_env=False) as http,
            http.get(f"{url}{PATH}") as answer,
        ):
            state = _State.model_validate_json(await answer.read())
    except (TimeoutError, aiohttp.ClientError, ValidationError) as error:
        why = f"the egress proxy doesn't answer at {url}: {str(error) or type(error).__name__}"
        raise Unavailable(f"{why}; `sandgate up` starts it") from error
    if state.trouble:
        raise Unavailable(f"the egress proxy refuses everything: {state.trouble}")
    if not state.recorder:
        raise Unavailable("the egress proxy refuses everything: it doesn't reach the egress log")
    return f"policy {state.generation} in force, for {state.sandboxes} sandboxes"
