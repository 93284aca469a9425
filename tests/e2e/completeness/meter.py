"""How much of a processor each program of an installation uses."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread

from tests.e2e.house import House

PROGRAMS = ("runner", "egress-proxy", "pocketbase", "polarion", "model", "githost", "opensandbox")
LOOK_S = 0.5
_TICKS = os.sysconf("SC_CLK_TCK")


@contextmanager
def used_by(house: House) -> Iterator[dict[str, float]]:
    """Seconds of a processor by program, over the block; of all its processes, one after the other."""
    over, used, meter = Event(), dict[str, float](), _Meter(house)

    def look() -> None:
        while not over.wait(LOOK_S):
            meter.look()

    meter.look()
    meter.begin()
    thread = Thread(target=look, daemon=True)
    thread.start()
    yield used
    over.set()
    thread.join()
    meter.look()
    used.update(meter.used())


@dataclass
class _Meter:
    house: House
    _seen: dict[tuple[str, int], float] = field(default_factory=dict)
    _before: dict[tuple[str, int], float] = field(default_factory=dict)

    def look(self) -> None:
        for name in PROGRAMS:
            for pid in self._pids(name):
                try:
                    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                except OSError:
                    continue
                self._seen[name, pid] = (int(fields[11]) + int(fields[12])) / _TICKS

    def begin(self) -> None:
        self._before = dict(self._seen)

    def used(self) -> dict[str, float]:
        found: dict[str, float] = {}
        for (name, pid), cpu_s in self._seen.items():
            found[name] = found.get(name, 0.0) + cpu_s - self._before.get((name, pid), 0.0)
        return {name: round(cpu_s, 1) for name, cpu_s in found.items()}

    def _pids(self, name: str) -> list[int]:
        try:
            pid = int((self.house.here.run / f"{name}.pid").read_text().split()[0])
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        except (OSError, ValueError, IndexError):
            return []
        return [pid, *map(int, children)]
