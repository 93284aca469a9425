"""Runs of the native loop in this process: what is tried with them needs none of its own."""

import asyncio
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from native.__main__ import run
from native.arguments import Arguments, dialect_of
from native.events import emitter

from tests.fakes.door import TOKEN, Door


@dataclass(frozen=True)
class Said:
    """What a run said, and how it ended."""

    events: list[dict[str, Any]]
    reason: str
    detail: str

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["type"] == kind]

    @property
    def conversation(self) -> str:
        """The id to go on with."""
        return str(self.of("started")[0]["conversation"])

    def result(self, number: int) -> str:
        text: str = self.of("tool_result")[number]["text"]
        return text


async def conversation(
    door: Door, folder: Path, model: str = "anthropic:m", dialect: str = "", **more: Any
) -> Said:
    """A run, with `more` of the loop's arguments. Its home is the folder `home`, its work `work`."""
    home, workdir = folder / "home", folder / "work"
    workdir.mkdir(exist_ok=True)
    out = io.BytesIO()
    async with door.open():
        arguments = Arguments(
            model=model,
            dialect=dialect or dialect_of(model),
            system="You fix things.",
            workdir=workdir,
            home=home,
            entrance=door.url,
            token=TOKEN,
            **{"prompt": "Fix it.", **more},
        )
        reason, detail = await asyncio.to_thread(run, arguments, emitter(out))
    return Said([json.loads(line) for line in out.getvalue().splitlines()], reason, detail)
