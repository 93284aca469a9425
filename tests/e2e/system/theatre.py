"""The demo as its users call it, with one harness and model after another in one installation."""

import asyncio
import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from orchestrator.adapters.polarion import PolarionClient
from orchestrator.cli.client import Runner
from orchestrator.settings import inherited_environment
from orchestrator.stack.installation import Installation
from orchestrator.stack.services import LOOPBACK, polarion_token
from tests.e2e.house import SANDGATE
from tests.e2e.served import served_to

CASTS: Mapping[str, Sequence[str]] = {
    "native, Anthropic": (),
    "native, OpenAI": ("--model=openai:gpt-6.2-sol",),
    "native, Google": ("--model=google:gemini-3.8-flash",),
    "Claude Code": ("--harness=claude-code",),
    "Codex": ("--harness=codex",),
}
"""The demo's options for every harness and every provider's API."""


@dataclass
class Theatre:
    """One home; each cast plays once, whoever asks for it."""

    home: Path
    _played: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def here(self) -> Installation:
        return Installation.open(self.home, create=False)

    def ask(self, path: str) -> Any:
        """What the runner answers to a GET."""
        here = self.here
        with Runner(f"http://{LOOPBACK}:{here.ports.runner}", here.keys / "api.token") as runner:
            return runner.get(path)

    def attached(self, record: str) -> Mapping[str, bytes]:
        """What a run's record has as files, by their names."""
        return asyncio.run(_attached(self.here, record))

    def played(self, cast: str) -> Mapping[str, Any]:
        """The summary of the demo with this cast."""
        if cast not in self._played:
            done = self.sandgate("demo", *CASTS[cast], "--json")
            assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
            self._played[cast] = json.loads(done.stdout)
            assert self._played[cast] == json.loads((self.home / "demo/summary.json").read_text())
        return self._played[cast]

    def sandgate(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        env = {**inherited_environment(), "SANDGATE_HOME": str(self.home), "NO_COLOR": "1"}
        return subprocess.run(
            [str(SANDGATE), *arguments], env=env, capture_output=True, text=True, check=False,
            timeout=280,
        )  # fmt: skip

    def served(self, item: str) -> Sequence[Mapping[str, Any]]:
        """What the scripted model says it served to the runs of a work item."""
        return served_to(self.here, item)


async def _attached(here: Installation, record: str) -> Mapping[str, bytes]:
    token = polarion_token(here).read_text()
    url = f"http://{LOOPBACK}:{here.ports.polarion}/polarion/rest/v1"
    async with aiohttp.ClientSession(trust_env=False) as http:
        client = PolarionClient(
            http, url, lambda _method, _url: {"Authorization": f"Bearer {token}"}
        )
        return {
            one.file_name: b"".join([piece async for piece in client.attachments.content(one.id)])
            for one in await client.attachments.of(record)
        }
