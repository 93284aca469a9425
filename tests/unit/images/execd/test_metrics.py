"""The figures are the sandbox's, not the host's, under either version of cgroups."""

from pathlib import Path

import pytest

from execd.metrics import Metrics

MEMINFO = "MemTotal: 8388608 kB\nMemFree: 1 kB\nMemAvailable: 4194304 kB\n"
V2 = {
    "cpu.max": "150000 100000\n",
    "cpu.stat": "usage_usec 1000\nuser_usec 1\n",
    "memory.max": "1073741824\n",
    "memory.current": "104857600\n",
}
V1 = {
    "cpu/cpu.cfs_quota_us": "150000\n",
    "cpu/cpu.cfs_period_us": "100000\n",
    "cpuacct/cpuacct.usage": "1000000\n",
    "memory/memory.limit_in_bytes": "1073741824\n",
    "memory/memory.usage_in_bytes": "104857600\n",
}


def written(root: Path, cgroup: dict[str, str]) -> Metrics:
    (root / "proc").mkdir()
    (root / "proc" / "meminfo").write_text(MEMINFO)
    for name, content in cgroup.items():
        (root / "cgroup" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "cgroup" / name).write_text(content)
    return Metrics(root / "cgroup", root / "proc")


@pytest.mark.parametrize("cgroup", [pytest.param(V2, id="v2"), pytest.param(V1, id="v1")])
def test_limits_and_usage_are_read(tmp_path: Path, cgroup: dict[str, str]) -> None:
    read = written(tmp_path, cgroup).read()
    assert (read["cpu_count"], read["mem_total_mib"], read["mem_used_mib"]) == (1.5, 1024.0, 100.0)


def test_the_share_of_cpu_is_that_since_the_last_reading(tmp_path: Path) -> None:
    metrics = written(tmp_path, V2)
    (tmp_path / "cgroup" / "cpu.stat").write_text("usage_usec 999999999999\n")
    assert metrics.read()["cpu_used_pct"] == 100.0
    assert metrics.read()["cpu_used_pct"] == 0.0


@pytest.mark.parametrize(
    "cgroup", [{}, {"memory.max": "max\n", "cpu.max": "max 100000\n"}], ids=["none", "no limit"]
)
def test_without_limits_the_host_is_the_measure(tmp_path: Path, cgroup: dict[str, str]) -> None:
    read = written(tmp_path, cgroup).read()
    assert (read["mem_total_mib"], read["mem_used_mib"]) == (8192.0, 4096.0)
    assert read["cpu_count"] >= 1
