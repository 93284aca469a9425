"""Where the kernel's counters are on each kind of host, and what they say."""

from pathlib import Path

import pytest

from orchestrator.adapters.opensandbox.counters import Counters, counters_in, files_of, read

ROOT = Path("/cg")
V1 = "5:pids:/docker/abc\n4:memory:/docker/abc\n1:name=systemd:/docker/abc\n0::/docker/abc\n"
V1_JOINT = "6:cpu,cpuacct:/docker/abc\n4:memory:/docker/abc\n3:pids:/docker/abc\n"
V2 = "0::/system.slice/docker-abc.scope\n"


@pytest.mark.parametrize("text", [V1, V1_JOINT], ids=["v1", "v1 without unified"])
def test_on_cgroup_v1_each_controller_has_its_tree(text: str) -> None:
    assert files_of(text, ROOT) == {
        "oom": ROOT / "memory/docker/abc/memory.oom_control",
        "pids": ROOT / "pids/docker/abc/pids.events",
    }


def test_on_cgroup_v2_there_is_one_tree() -> None:
    assert files_of(V2, ROOT) == {
        "oom": ROOT / "system.slice/docker-abc.scope/memory.events",
        "pids": ROOT / "system.slice/docker-abc.scope/pids.events",
    }


@pytest.mark.parametrize(
    ("oom", "pids", "seen"),
    [
        pytest.param(
            "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n", "max 345\n", Counters(2, 345), id="v1"
        ),
        pytest.param(
            "low 0\nhigh 0\nmax 7\noom 3\noom_kill 1\noom_group_kill 0\n",
            "max 0\n",
            Counters(1, 0),
            id="v2",
        ),
        pytest.param("", "", Counters(), id="controllers off"),
    ],
)
def test_the_counters_are_read(oom: str, pids: str, seen: Counters) -> None:
    assert counters_in({"oom": oom, "pids": pids}) == seen


def test_a_process_that_is_gone_counts_nothing() -> None:
    assert read(2**22 + 1) == Counters()
