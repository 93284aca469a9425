"""What the tests of this folder share."""

from collections.abc import Iterator

import pytest

from tests.component.telemetry.collector import Collector, collecting


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as kept:
        yield kept
