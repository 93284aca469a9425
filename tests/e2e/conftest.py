"""The house: one installation for the whole test session, with a scenario for every kind of test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.ports.sandboxes import STDIO
from tests.e2e.house import House, Wanted, open_house
from tests.servers.alerts import Alerts, alerts_server

FILES = {
    "thing.py": "def double(n):\n    return n + n\n",
    "test_thing.py": "import thing\n\n\ndef test_double():\n    assert thing.double(2) == 4\n",
}


@pytest.fixture(scope="session")
def alerts() -> Iterator[Alerts]:
    """Whoever looks after security."""
    with alerts_server() as server:
        yield server


@pytest.fixture(scope="session")
def house(tmp_path_factory: pytest.TempPathFactory, alerts: Alerts) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("house")
    hook = folder / "alerts.url"
    hook.write_text(f"{alerts.url}\n")
    wanted = Wanted(harnesses=(STDIO,), settings={"SANDGATE_ALERTS__URL_FILE": str(hook)})
    scenario = Path(__file__).with_name("scenario.yaml")
    yield from open_house(folder / "home", FILES, scenario, wanted)
