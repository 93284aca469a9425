"""Whose engine is given gVisor."""

from typing import Any

import pytest

from orchestrator.stack.dockerd import SETTINGS
from orchestrator.stack.gvisor import RUNTIMES, not_ours


@pytest.mark.parametrize(
    ("settings", "started_by_us"),
    [
        pytest.param({}, True, id="one that we started"),
        pytest.param({"runtimes": RUNTIMES}, True, id="one that we started, and gave it before"),
        pytest.param(dict(SETTINGS), False, id="one that we installed for systemd to start"),
        pytest.param({**SETTINGS, "runtimes": RUNTIMES}, False, id="and gave it before"),
    ],
)
def test_an_engine_of_ours_may_be_changed(settings: dict[str, Any], *, started_by_us: bool) -> None:
    assert not_ours(settings, started_by_us=started_by_us) == ""


@pytest.mark.parametrize(
    ("settings", "started_by_us", "why"),
    [
        pytest.param({}, False, "not set up by Sandgate", id="somebody else started it"),
        pytest.param({"dns": ["10.0.0.2"]}, False, "not set up by Sandgate", id="and set it up"),
        pytest.param({"dns": ["10.0.0.2"]}, True, "not Sandgate's", id="their file, our start"),
        pytest.param(
            {"runtimes": {"kata": {"path": "/kata"}}}, True, "not Sandgate's", id="their runtimes"
        ),
    ],
)
def test_nobody_elses_engine_is_changed(
    settings: dict[str, Any], why: str, *, started_by_us: bool
) -> None:
    assert why in not_ours(settings, started_by_us=started_by_us)
