"""The battery in a whole installation: it has let the runs start, is run by hand, and is on their record."""

from pathlib import Path

import pytest

from orchestrator.posture.report import Report
from tests.e2e.house import House

pytestmark = [pytest.mark.docker, pytest.mark.timeout(120)]


@pytest.fixture(scope="module")
def report(house: House) -> Report:
    done = house.sandgate("posture", "run", "--json")
    return Report.model_validate_json(done.stdout)


def test_every_probe_passes_in_an_installation(report: Report) -> None:
    assert [
        (tried.name, tried.found, tried.evidence) for tried in report.probes if not tried.ok
    ] == []
    assert len(report.probes) > 180
    assert (report.ended_at - report.began_at).total_seconds() < 15


def test_its_report_is_kept_signed_and_verified_without_the_runner(
    house: House, report: Report
) -> None:
    file = house.here.home / "posture" / "reports" / f"{report.id}.json"
    assert Report.model_validate_json(file.read_bytes()) == report
    assert (
        f"{report.id} of {house.here.name}" in house.sandgate("posture", "verify", str(file)).stdout
    )
    reasons = {Report.model_validate_json(one.read_bytes()).why for one in file.parent.iterdir()}
    assert "installation" in reasons, "no run may start before"


def test_nothing_is_left_of_a_battery(house: House, report: Report) -> None:
    assert report.probes
    assert [name for name in house.containers() if "posture" in name] == []
    assert [folder.name for folder in house.here.tasks.iterdir() if "POSTURE" in folder.name] == []
    assert not Path(f"/sys/class/net/{house.here.bridge[:10]}o0").exists()


def test_status_doctor_and_the_record_of_a_run_say_it_in_a_line(
    house: House, report: Report
) -> None:
    line = f"{len(report.probes)} probes passed"
    assert f"posture: {line}" in house.sandgate("status").stdout
    assert line in house.sandgate("doctor").stdout
    assert "runs may start" in house.sandgate("posture", "show").stdout
    run = house.ended(house.task("A task, to see its record"))
    assert run["facts"]["posture"]["fingerprint"] == report.fingerprint
