"""Wall-clock times as the contract writes them: Unix milliseconds and RFC 3339 in UTC."""

import time


def now_ms() -> int:
    """Return the Unix time in milliseconds."""
    return time.time_ns() // 1_000_000


def rfc3339(at_ms: int) -> str:
    """Return `at_ms` as in 2026-01-31T12:00:00.250Z."""
    seconds, rest = divmod(at_ms, 1000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{rest:03d}Z"
