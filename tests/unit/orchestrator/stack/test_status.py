"""What of an installation runs."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.stack.installation import Installation
from orchestrator.stack.pids import record_pid
from orchestrator.stack.status import status_of
from orchestrator.stack.wiring import Wishes, providers_of


@pytest.fixture
def here(tmp_path: Path) -> Installation:
    return Installation.open(tmp_path / "home", create=True)


def alive(here: Installation) -> dict[str, bool]:
    return {part.name: part.alive for part in status_of(here)}


def test_nothing_runs_before_it_was_started(here: Installation) -> None:
    assert alive(here) == dict.fromkeys(
        ("pocketbase", "polarion", "opensandbox", "runner", "entrance", "egress-proxy", "watchdog"),
        False,
    )


def test_what_runs_is_told_from_what_does_not(here: Installation) -> None:
    record_pid(here.run / "runner.pid", os.getpid())
    (here.run / "polarion.pid").write_text(f"{os.getpid()} 1\n")  # a pid that another has now
    (here.run / "pocketbase.pid").write_text("nonsense")
    assert alive(here) == {
        "pocketbase": False,
        "polarion": False,
        "opensandbox": False,
        "runner": True,
        "entrance": True,
        "egress-proxy": False,
        "watchdog": False,
    }


def test_the_git_host_is_a_part_once_it_serves(here: Installation) -> None:
    assert "githost" not in alive(here)
    here.data("githost").mkdir()
    assert alive(here)["githost"] is False


def test_the_scripted_model_is_a_part_while_it_runs(here: Installation) -> None:
    assert "model" not in alive(here)
    record_pid(here.run / "model.pid", os.getpid())
    assert alive(here)["model"] is True


def test_a_scripted_model_that_is_needed_and_down_is_shown(here: Installation) -> None:
    elsewhere = Wishes(here.home, providers={"anthropic": "https://models.example"})
    providers_of(here, elsewhere)
    assert "model" not in alive(here)
    providers_of(here, replace(elsewhere, providers={"x": f"http://127.0.0.1:{here.ports.model}"}))
    assert alive(here)["model"] is False


def test_an_egress_proxy_that_there_is_to_be_none_of_is_no_part(here: Installation) -> None:
    assert "egress-proxy" in alive(here)
    (here.home / "settings.env").write_text("EGRESS__ENABLED=false\n")
    assert "egress-proxy" not in alive(here)


def test_every_part_says_where_it_is(here: Installation) -> None:
    where = {part.name: part.where for part in status_of(here)}
    assert where["runner"] == f"http://127.0.0.1:{here.ports.runner}"
    assert where["entrance"] == here.entrance_url
    assert status_of(here)[0].as_json()["name"] == "pocketbase"
