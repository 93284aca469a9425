"""What a run has used is remembered over a restart, and forgotten with the run."""

from pathlib import Path

import pytest

from proxy.policy import Used
from proxy.usage import Usage


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "usage.json"


def test_a_counted_use_is_on_the_disk_before_it_is_made(file: Path) -> None:
    usage = Usage(file)
    usage.request("run-1", "once", counted=True)
    assert Usage(file).of("run-1").uses == {"once": 1}


def test_everything_else_is_on_the_disk_when_it_is_saved(file: Path) -> None:
    usage = Usage(file)
    usage.request("run-1", "web", counted=False)
    assert usage.transferred("run-1", 7) == 7
    assert usage.transferred("run-1", 3) == 10
    assert Usage(file).of("run-1") == Used()
    usage.save()
    usage.save()
    assert Usage(file).of("run-1") == Used(requests=1, bytes=10)


def test_a_request_that_didnt_leave_isnt_counted(file: Path) -> None:
    usage = Usage(file)
    for counted in (True, False):
        usage.request("run-1", "once", counted=counted)
        usage.give_back("run-1", "once", counted=counted)
    assert usage.of("run-1").requests == 0
    assert Usage(file).of("run-1").uses == {"once": 0}


def test_a_run_that_has_ended_is_forgotten(file: Path) -> None:
    usage = Usage(file)
    for run in ("run-1", "run-2"):
        usage.request(run, "once", counted=True)
    usage.forget_all_but(["run-2"])
    usage.save()
    assert Usage(file).of("run-1") == Used()
    assert Usage(file).of("run-2").requests == 1


def test_a_run_that_ended_meanwhile_gets_nothing_back(file: Path) -> None:
    usage = Usage(file)
    usage.request("run-1", "once", counted=True)
    usage.forget_all_but([])
    usage.give_back("run-1", "once", counted=True)
    assert usage.of("run-1") == Used()


def test_a_file_that_holds_no_accounts_isnt_taken_for_nothing_used(file: Path) -> None:
    file.write_text("[")
    with pytest.raises(ValueError, match="Invalid JSON"):
        Usage(file)
