"""An installation whose runner is the API with fakes behind it; `SANDGATE_HOME` names it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from orchestrator.stack.installation import Installation
from tests.servers.api import TOKEN, Api, api_server


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installation:
    here = Installation.open(tmp_path / "home", create=True)
    (here.keys / "api.token").write_text(TOKEN)
    monkeypatch.setenv("SANDGATE_HOME", str(here.home))
    return here


@pytest.fixture
async def api(here: Installation) -> AsyncIterator[Api]:
    async with api_server(here.home / "fakes", port=here.ports.runner) as running:
        yield running
