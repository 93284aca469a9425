"""`sandgate posture` against a real API: what it shows, how it exits, what it lets through."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from structlog.testing import capture_logs

from entrance.errors import Unavailable
from orchestrator.cli.codes import Code
from orchestrator.posture.report import Report
from orchestrator.posture.signed import as_json
from orchestrator.stack.installation import Installation
from tests.fakes.posture import Key, report, tried
from tests.servers.api import Api
from tests.servers.command import sandgate_beside

pytestmark = pytest.mark.usefixtures("api")
EVIL = "reached \x1b]0;owned\x07 [red]x[/red]"


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """The runner is in this very process; its log must not be in what the command says."""
    with capture_logs():
        yield


async def test_a_whole_battery_is_shown_by_area_and_exits_well(api: Api) -> None:
    done = await sandgate_beside("posture", "run")
    assert done.code == 0, done.err
    assert done.out.splitlines()[1].split() == ["network", "2"]
    assert "Docker 20.10" in done.out
    assert api.battery.times == 1


async def test_its_report_can_be_had_as_json() -> None:
    done = await sandgate_beside("posture", "run", "--json")
    assert done.code == 0
    said = Report.model_validate(done.json)
    assert [probe.name for probe in said.probes] == ["one", "two"]
    assert (said.why, bool(said.signature)) == ("by hand", True)


async def test_a_failure_is_named_with_what_was_found_and_exits_with_1(api: Api) -> None:
    api.battery.finds["two"] = EVIL
    done = await sandgate_beside("posture", "run")
    assert done.code == Code.FAILED
    assert "two  Nothing gets out." in done.out
    assert "expected closed" in done.out
    assert "\x1b" not in done.out
    done = await sandgate_beside("posture", "run", "--json")
    assert done.code == Code.FAILED


async def test_a_battery_that_cannot_run_is_a_sentence(api: Api) -> None:
    api.battery.trouble = Unavailable("the engine does not answer")
    done = await sandgate_beside("posture", "run")
    assert (done.code, done.err) == (Code.FAILED, "the engine does not answer\n")


async def test_before_any_report_showing_says_that_there_is_none() -> None:
    done = await sandgate_beside("posture", "show")
    assert done.code == Code.FAILED
    assert "never proven" in done.out


async def test_what_is_accepted_is_shown_and_lets_runs_start(api: Api) -> None:
    api.battery.finds["two"] = "reached"
    await sandgate_beside("posture", "run")
    done = await sandgate_beside("posture", "show")
    assert done.code == Code.FAILED
    assert "sandgate posture accept two" in done.out
    said = ("--why", "the old switch", "--by", "lead", "--until", "2099-01-01")
    done = await sandgate_beside("posture", "accept", "two", *said)
    assert done.code == 0, done.err
    assert done.out.startswith("two is accepted as it is (reached), until 2099-01-01")
    done = await sandgate_beside("posture", "show")
    assert done.code == 0
    assert "accepted by lead: the old switch" in done.out
    assert "runs may start" in done.out


async def test_what_did_not_fail_cannot_be_accepted(api: Api) -> None:
    await sandgate_beside("posture", "run")
    said = ("--why", "x", "--by", "lead")
    done = await sandgate_beside("posture", "accept", "one", *said)
    assert (done.code, done.err) == (
        Code.REFUSED,
        "the probe one did not fail: there is nothing to accept\n",
    )
    done = await sandgate_beside("posture", "accept", "three", *said)
    assert done.code == Code.NOT_FOUND
    done = await sandgate_beside("posture", "accept", "one", "--why", " ", "--by", "lead")
    assert done.code == Code.REFUSED
    assert api.battery.times == 1


async def test_a_report_is_verified_without_a_runner(here: Installation, tmp_path: Path) -> None:
    key = Key()
    pem = key.public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (here.keys / "log.pub").write_bytes(pem)
    file = tmp_path / "report.json"
    file.write_bytes(as_json(report(tried("way"), tried("other", ok=False)).signed(key)))
    done = await sandgate_beside("posture", "verify", str(file))
    assert done.code == 0, done.err
    assert "2 probes, failed: other" in done.out
    changed = json.loads(file.read_bytes())
    changed["probes"][1]["ok"] = True
    file.write_text(json.dumps(changed))
    done = await sandgate_beside("posture", "verify", str(file))
    assert done.code == Code.FAILED
    assert "it was changed" in done.err
    file.write_text("{}")
    done = await sandgate_beside("posture", "verify", str(file))
    assert "is no report" in done.err
