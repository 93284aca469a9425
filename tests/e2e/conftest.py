"""The house: one installation for the whole test session, with a scenario for every kind of test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.house import House, open_house

FILES = {
    "thing.py": "def double(n):\n    return n + n\n",
    "test_thing.py": "import thing\n\n\ndef test_double():\n    assert thing.double(2) == 4\n",
}


@pytest.fixture(scope="session")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    home = tmp_path_factory.mktemp("house") / "home"
    yield from open_house(home, FILES, Path(__file__).with_name("scenario.yaml"))
