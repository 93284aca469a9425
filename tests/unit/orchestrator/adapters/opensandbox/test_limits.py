"""What the kernel holds a sandbox to is compared with what was asked, on each kind of host."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from orchestrator.adapters.opensandbox.limits import (
    Held,
    files_and_cores,
    held_in,
    mounts_in,
    of_cgroup,
    of_mounts,
    wrong_with,
)
from tests.unit.orchestrator.adapters.opensandbox.sample import BLUEPRINT, SPEC

HELD = Held(pids=256, memory_bytes=1 << 30, swap_bytes=0, cpus=1.5)
V1 = {
    "pids.max": "256\n",
    "memory.limit_in_bytes": "1073741824\n",
    "memory.memsw.limit_in_bytes": "1073741824\n",
    "cpu.cfs_quota_us": "150000\n",
    "cpu.cfs_period_us": "100000\n",
}
V2 = {
    "pids.max": "256\n",
    "memory.max": "1073741824\n",
    "memory.swap.max": "0\n",
    "cpu.max": "150000 100000\n",
}
DISK = "7:3"
TMP, SHM = "/tmp", "/dev/shm"  # noqa: S108 - the sandbox's own
MOUNTS = """\
642 512 0:71 / / rw,relatime master:3 - overlay overlay rw,lowerdir=/l,upperdir=/u,workdir=/w
700 642 0:80 / /dev/shm rw,nosuid,nodev,noexec,relatime - tmpfs tmpfs rw,size=16384k,mode=1777
701 642 0:81 / /tmp rw,nosuid,nodev,relatime - tmpfs tmpfs rw,size=65536k
702 642 7:3 /workspace /workspace rw,nosuid,nodev,relatime - ext4 /dev/loop3 rw
703 642 7:3 /home /home/agent rw,nosuid,nodev,relatime - ext4 /dev/loop3 rw
"""


@pytest.mark.parametrize("texts", [V1, V2], ids=["v1", "v2"])
def test_the_limits_are_read(texts: Mapping[str, str]) -> None:
    assert held_in(texts) == HELD
    assert list(of_cgroup(HELD, BLUEPRINT)) == []


@pytest.mark.parametrize(
    ("texts", "held"),
    [
        pytest.param(
            {"pids.max": "max\n", "cpu.max": "max 100000\n", "memory.max": "max\n"},
            Held(),
            id="v2 without limits",
        ),
        pytest.param(
            {"cpu.cfs_quota_us": "-1\n", "cpu.cfs_period_us": "100000\n"}, Held(), id="v1"
        ),
        pytest.param({}, Held(), id="controllers off"),
    ],
)
def test_no_limit_is_no_number(texts: Mapping[str, str], held: Held) -> None:
    assert held_in(texts) == held
    assert len(list(of_cgroup(held, BLUEPRINT))) == 3


@pytest.mark.parametrize(
    ("held", "said"),
    [
        pytest.param(replace(HELD, pids=4096), "4096 processes", id="processes"),
        pytest.param(
            replace(HELD, memory_bytes=2 << 30), "2147483648 bytes of memory", id="memory"
        ),
        pytest.param(replace(HELD, swap_bytes=1 << 30), "1073741824 bytes of swap", id="swap"),
        pytest.param(replace(HELD, cpus=2.0), "2.0 processors", id="processors"),
    ],
)
def test_another_limit_is_named(held: Held, said: str) -> None:
    (found,) = of_cgroup(held, BLUEPRINT)
    assert said in found


def test_a_kernel_that_does_not_account_for_swap_is_no_difference() -> None:
    """The engine drops the limit then, and can't do better."""
    assert list(of_cgroup(replace(HELD, swap_bytes=None), BLUEPRINT)) == []


def test_mounts_as_asked_have_no_difference() -> None:
    assert list(of_mounts(mounts_in(MOUNTS), BLUEPRINT, DISK)) == []


@pytest.mark.parametrize(
    ("was", "is_", "place"),
    [
        pytest.param("size=16384k", "size=65536k", SHM, id="more shared memory"),
        pytest.param("rw,size=65536k", "rw", TMP, id="no cap"),
        pytest.param("- tmpfs tmpfs rw,size=65536k", "- ext4 /dev/sda1 rw", TMP, id="a disk"),
        pytest.param("7:3 /workspace", "8:1 /workspace", "/workspace", id="the host's disk"),
        pytest.param("7:3 /home", "8:1 /home", "/home/agent", id="the host's disk as home"),
        pytest.param(
            "/workspace rw,nosuid,nodev", "/workspace rw,nodev", "/workspace", id="setuid allowed"
        ),
    ],
)
def test_another_mount_is_named(was: str, is_: str, place: str) -> None:
    """CASE-77: a path that is not on a capped disk is never a sandbox's."""
    assert was in MOUNTS
    (found,) = of_mounts(mounts_in(MOUNTS.replace(was, is_)), BLUEPRINT, DISK)
    assert found.startswith(f"{place} is not")


def test_a_mount_over_another_is_the_one_that_counts() -> None:
    over = "704 642 8:1 /x /workspace rw,nosuid,nodev,relatime - ext4 /dev/sda1 rw\n"
    assert len(list(of_mounts(mounts_in(MOUNTS + over), BLUEPRINT, DISK))) == 1


@pytest.mark.parametrize(
    ("soft_hard", "held"),
    [("0 0", (4096, 0)), ("unlimited unlimited", (4096, float("inf"))), ("0 8192", (4096, 8192))],
)
def test_the_hard_limits_of_a_process_are_read(soft_hard: str, held: tuple[float, float]) -> None:
    soft, hard = soft_hard.split()
    text = (
        "Limit                     Soft Limit           Hard Limit           Units     \n"
        f"Max core file size        {soft:<20} {hard:<20} bytes     \n"
        "Max open files            1024                 4096                 files     \n"
    )
    assert files_and_cores(text) == held


def test_a_sandbox_that_is_gone_is_not_taken_for_a_limited_one() -> None:
    (found,) = wrong_with(2**22 + 1, BLUEPRINT, SPEC)
    assert "can't be read" in found
