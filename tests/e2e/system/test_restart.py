"""Stopping and starting an installation of its own, while an agent is at work in it."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from orchestrator.adapters.firewall.standing import listed, wrong_with
from orchestrator.settings import inherited_environment
from orchestrator.stack.pids import recorded_pid
from orchestrator.stack.services import polarion_token
from orchestrator.stack.wiring import bridge_of
from tests.e2e import damage
from tests.e2e.house import SANDGATE, House, eventually

pytestmark = [pytest.mark.docker, pytest.mark.timeout(300)]
PROGRAMS = ("pocketbase", "polarion", "opensandbox", "githost", "watchdog", "runner")
STOPS_WITHIN_S = 8.0
"""Five for calls that are under way, and what a busy machine adds."""


def running(house: House, title: str) -> dict[str, Any]:
    """A run whose agent waits in its sandbox until it is told to go on."""
    return house.wait(house.task(title), lambda run: run["state"] == "running")


def test_a_stop_of_the_runner_ends_no_run_and_no_watching(own: House) -> None:
    """SIGTERM, as `up` sends it to restart: the run goes on in its sandbox, and is taken up again."""
    run = running(own, "STAY while the runner is restarted")
    env = {**inherited_environment(), "SANDGATE_HOME": str(own.here.home), "NO_COLOR": "1"}
    with subprocess.Popen(
        [str(SANDGATE), "run", "watch", run["id"]], env=env, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as watching:  # fmt: skip
        assert watching.stdout
        assert "queued" in watching.stdout.readline()
        began = time.monotonic()
        os.kill(own.pid("runner"), signal.SIGTERM)
        while recorded_pid(own.here.run / "runner.pid"):
            assert time.monotonic() - began < STOPS_WITHIN_S, "it doesn't end"
            time.sleep(0.05)
        assert len(own.containers()) == 1, "its sandbox lives on"
        damage.delete(bridge_of(own.here))
        eventually(lambda: walls(own) == [])  # though the runner is away
        own.sandgate("up")
        assert own.run_of(run["task"])["state"] == "running"
        own.inside(run, "touch /tmp/go")
        ended = own.ended(run["task"])
        out, err = watching.communicate(timeout=60)
    assert (ended["id"], ended["outcome"]) == (run["id"], "asked"), ended
    assert watching.returncode == 0, err
    assert f"{run['id']} ended asked" in out
    assert "the runner went away" in err
    assert "the runner is back" in err
    assert own.containers() == []


def test_up_again_restarts_nothing_whatever_shell_it_comes_from(own: House) -> None:
    before = {name: own.pid(name) for name in PROGRAMS}
    env = {
        **inherited_environment(),
        "SANDGATE_HOME": str(own.here.home),
        "ANTHROPIC_API_KEY": "a-key-of-the-shell",
        "LANG": "C",
        "PATH": f"/somewhere/else:{inherited_environment()['PATH']}",
    }
    done = subprocess.run(
        [str(SANDGATE), "up"], env=env, capture_output=True, text=True, check=True, timeout=120
    )
    assert "restarting" not in done.stdout
    assert {name: own.pid(name) for name in PROGRAMS} == before


def test_no_program_shows_a_secret_of_the_installation(own: House) -> None:
    secrets = {
        file.name: file.read_bytes().strip().rpartition(b":")[2]
        for file in own.here.keys.iterdir()
        if file.name != "pocketbase.key"  # its own, and nothing of ours is under it
    }
    for name in (*PROGRAMS, "model"):
        process = Path(f"/proc/{own.pid(name)}")
        shown = (process / "environ").read_bytes() + (process / "cmdline").read_bytes()
        for key, secret in secrets.items():
            assert secret not in shown, f"{name} shows {key}"


def walls(house: House) -> list[str]:
    """What is wrong with the house's firewall."""
    bridge = bridge_of(house.here)
    return wrong_with(listed(bridge), bridge)


def sandbox_network(house: House) -> dict[str, Any]:
    """What `sandgate doctor` says of it."""
    checks = json.loads(house.sandgate("doctor", "--json", check=False).stdout)
    return next(check for check in checks if check["check"] == "sandbox network")


def test_a_firewall_that_falls_is_up_again_and_the_run_goes_on(own: House) -> None:
    run = running(own, "STAY while the firewall is deleted")
    damage.delete(bridge_of(own.here))
    eventually(lambda: walls(own) == [])
    eventually(lambda: bool(sandbox_network(own)["ok"]))
    said = "changed from outside (it is missing), and restored at"
    eventually(lambda: said in sandbox_network(own)["says"])
    own.inside(run, "touch /tmp/go")
    ended = own.ended(run["task"])
    assert (ended["id"], ended["outcome"]) == (run["id"], "asked"), ended


def test_a_firewall_that_can_not_be_restored_ends_what_runs_and_lets_nothing_start(
    own: House,
) -> None:
    run = running(own, "STAY while the firewall is taken over")
    with damage.taken_over(bridge_of(own.here)):
        ended = own.ended(run["task"])
        assert (ended["outcome"], ended["cause"]) == ("failed", "firewall"), ended
        assert "can't be made again" in ended["evidence"]["exit"]["detail"]
        assert own.containers() == []
        says = sandbox_network(own)
        assert not says["ok"]
        assert "can't be made again" in says["says"]
    eventually(lambda: bool(sandbox_network(own)["ok"]))
    assert walls(own) == []


def test_after_down_and_up_the_git_host_serves_again(own: House) -> None:
    own.sandgate("down")
    assert own.containers() == []
    own.sandgate("up")
    assert own.pid("githost")


def test_down_in_the_middle_ends_the_run_as_lost_and_the_task_says_so(own: House) -> None:
    """`down` removes the sandboxes: the next `up` finds that out, and nothing is left in between."""
    run = running(own, "STAY until all is taken down")
    said = own.sandgate("down").stdout
    assert "removed container" in said
    assert "unmounted" in said
    assert own.containers() == []
    assert own.sandgate("status", check=False).returncode != 0
    own.sandgate("up")
    ended = own.ended(run["task"])
    assert (ended["id"], ended["outcome"], ended["cause"]) == (
        run["id"],
        "failed",
        "sandbox_lost",
    ), ended
    assert status_of(own, run) == "failed"
    assert any("sandbox_lost" in text for text in comments(own, run))


def polarion(house: House, run: Mapping[str, Any], path: str, fields: str) -> Any:
    project, item = run["task"].split("/")
    base = f"http://127.0.0.1:{house.here.ports.polarion}/polarion/rest/v1"
    answer = httpx.get(
        f"{base}/projects/{project}/workitems/{item}{path}",
        params={fields: "@all"},
        headers={"Authorization": f"Bearer {polarion_token(house.here).read_text()}"},
        timeout=30,
        trust_env=False,
    )
    answer.raise_for_status()
    return answer.json()["data"]


def status_of(house: House, run: Mapping[str, Any]) -> str:
    item = polarion(house, run, "", "fields[workitems]")
    return str(item["attributes"]["status"])


def comments(house: House, run: Mapping[str, Any]) -> list[str]:
    found = polarion(house, run, "/comments", "fields[workitem_comments]")
    return [str(comment["attributes"]["text"]["value"]) for comment in found]
