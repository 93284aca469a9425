"""What it takes to look through what is pushed, apart from everything else."""

import os
from collections.abc import Callable
from time import process_time

from entrance.git.checks.scanners.scan import Scan
from entrance.git.quarantine.literals import literals
from entrance.honeytokens.canaries import canaries_of
from entrance.honeytokens.traps import Traps
from entrance.session import RunId

_BYTES = 32 << 20
_FILE, _PIECE = 1 << 20, 1 << 18
_PER = (100 << 20) / _BYTES


def costs() -> dict[str, float]:
    """Milliseconds of a processor for 100 MiB that no compression makes smaller."""
    data = os.urandom(_BYTES)
    return {
        "honeytokens_ms_per_100_mib": _ms(lambda: _honeytokens(data)),
        "secrets_ms_per_100_mib": _ms(lambda: _secrets(data)),
    }


def _ms(work: Callable[[], None]) -> float:
    work()  # what is made once, is made
    begun = process_time()
    work()
    return 1000 * _PER * (process_time() - begun)


def _honeytokens(data: bytes) -> None:
    stream = Traps(canaries_of(b"h" * 32, RunId("bench")), literals).stream()
    for start in range(0, len(data), _PIECE):
        stream.feed(data[start : start + _PIECE])


def _secrets(data: bytes) -> None:
    for file in range(0, len(data), _FILE):
        scan = Scan("0" * 40, "blob", _FILE)
        for start in range(file, file + _FILE, _PIECE):
            scan.feed(data[start : start + _PIECE])
        scan.seen()
