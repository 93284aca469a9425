"""GET /metrics: what this sandbox uses of what it may use, by its cgroup (v2 or v1)."""

import os
import time
from pathlib import Path
from typing import Any

from execd.clock import now_ms

MIB = 1 << 20
UNLIMITED = 1 << 60  # cgroup v1 writes a huge number for "no limit"


class Metrics:
    """Reads the counters. The share of CPU is that since the last reading."""

    def __init__(self, cgroup: Path = Path("/sys/fs/cgroup"), proc: Path = Path("/proc")) -> None:
        self._cgroup = cgroup
        self._proc = proc
        self._last = (time.monotonic_ns(), self._cpu_ns())

    def read(self) -> dict[str, Any]:
        """Return the contract's five figures."""
        count = self._cpu_count()
        total, used = self._memory()
        before_at, before = self._last
        self._last = now_at, now = time.monotonic_ns(), self._cpu_ns()
        share = (now - before) / max(now_at - before_at, 1) / count * 100
        return {
            "cpu_count": count,
            "cpu_used_pct": round(min(max(share, 0.0), 100.0), 2),
            "mem_total_mib": round(total / MIB, 2),
            "mem_used_mib": round(used / MIB, 2),
            "timestamp": now_ms(),
        }

    def _words(self, *names: str) -> list[str]:
        for name in names:
            try:
                return (self._cgroup / name).read_text().split()
            except OSError:
                continue
        return []

    def _cpu_count(self) -> float:
        quota = self._words("cpu.max") or [
            *self._words("cpu/cpu.cfs_quota_us"),
            *self._words("cpu/cpu.cfs_period_us"),
        ]
        if len(quota) == 2 and quota[0] not in {"max", "-1"}:  # noqa: PLR2004  # quota, period
            return int(quota[0]) / int(quota[1])
        return float(len(os.sched_getaffinity(0)))

    def _cpu_ns(self) -> int:
        stat = self._words("cpu.stat")
        if "usage_usec" in stat:
            return int(stat[stat.index("usage_usec") + 1]) * 1000
        return int((self._words("cpuacct/cpuacct.usage", "cpu,cpuacct/cpuacct.usage") or ["0"])[0])

    def _memory(self) -> tuple[int, int]:
        limit = self._words("memory.max", "memory/memory.limit_in_bytes")
        used = self._words("memory.current", "memory/memory.usage_in_bytes")
        total, free = self._host_memory()
        if limit and used and limit[0] != "max" and int(limit[0]) < UNLIMITED:
            return min(int(limit[0]), total), int(used[0])
        return total, int(used[0]) if used else total - free

    def _host_memory(self) -> tuple[int, int]:
        lines = (self._proc / "meminfo").read_text().splitlines()
        sizes = {
            name: int(rest.split()[0]) * 1024 for name, _, rest in (x.partition(":") for x in lines)
        }
        return sizes["MemTotal"], sizes.get("MemAvailable", 0)
