"""The battery in a whole installation: it has let the runs start, is run by hand, and is on their record."""

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from orchestrator.posture.report import Report
from tests.e2e.house import House

pytestmark = [pytest.mark.docker, pytest.mark.timeout(120)]


@pytest.fixture(scope="module")
def report(house: House) -> Report:
    """What `sandgate posture run --json` prints."""
    return Report.model_validate_json(house.sandgate("posture", "run", "--json").stdout)


def test_every_probe_passes_in_an_installation(report: Report) -> None:
    assert [
        (tried.name, tried.found, tried.evidence) for tried in report.probes if not tried.ok
    ] == []
    assert len(report.probes) > 230
    assert set(report.skipped) == {"second-door-shut"}


def test_its_report_is_kept_and_signed_and_so_is_the_one_that_let_runs_start(
    house: House, report: Report
) -> None:
    key = load_pem_public_key((house.here.keys / "log.pub").read_bytes())
    assert isinstance(key, Ed25519PublicKey)
    files = sorted((house.here.home / "posture" / "reports").iterdir())
    kept = [Report.model_validate_json(file.read_bytes()) for file in files]
    for one in kept:
        one.verify(key)
    assert kept[-1] == report
    assert "installation" in {one.why for one in kept}


def test_nothing_is_left_of_a_battery(house: House, report: Report) -> None:
    assert report.probes
    assert [folder.name for folder in house.here.tasks.iterdir() if "POSTURE" in folder.name] == []
    assert not Path(f"/sys/class/net/{house.here.bridge[:10]}o0").exists()


def test_status_and_the_record_of_a_run_say_it_in_a_line(house: House, report: Report) -> None:
    line = f"{len(report.probes)} probes passed"
    assert house.runner.get("/api/posture")["line"].startswith(line)
    assert f"posture: {line}" in house.sandgate("status").stdout
    run = house.ended(house.task("A task, to see its record"))
    assert run["facts"]["posture"]["fingerprint"] == report.fingerprint
