"""One conversation over each provider's own SDK: ask, do what is called, ask on, until the last words.

A talker gives the last words, and the usage of every answer as its provider says it: the whole
input, what of it was cached, the whole output, what of it was reasoning.
"""

from typing import Any, Protocol

from tests.component.scripted.workbench import Workbench

type Used = tuple[int, int, int, int]
type Talk = tuple[str, list[Used]]


class Talker(Protocol):
    """Ask the model at `url` to do what `prompt` says at the workbench."""

    async def __call__(self, url: str, prompt: str, bench: Workbench, *, stream: bool) -> Talk: ...


MODEL = "scripted-1"
SCHEMA: Any = {"type": "object", "properties": {}}
