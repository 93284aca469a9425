from typing import Any

import pytest
from native.retry_after import seconds

NOW = "Wed, 21 Oct 2026 07:28:00 GMT"
INFO = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "39.5s"}


@pytest.mark.parametrize(
    ("headers", "error", "wait_s"),
    [
        ({}, {}, None),
        ({"retry-after": "7"}, {}, 7.0),
        ({"retry-after": "-1"}, {}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "1"}, {}, 0.25),
        ({"retry-after": "Wed, 21 Oct 2026 07:29:30 GMT", "date": NOW}, {}, 90.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:29:30 GMT"}, {}, None),
        ({"retry-after": "soon", "date": NOW}, {}, None),
        ({}, {"details": [{"@type": "other"}, INFO]}, 39.5),
        ({}, {"details": [{"retryDelay": "soon"}]}, None),
        ({}, {"details": "none"}, None),
        ({"retry-after": "3"}, {"details": [INFO]}, 3.0),
    ],
)
def test_how_long_to_wait_is_found_wherever_it_is_said(
    headers: dict[str, str], error: dict[str, Any], wait_s: float | None
) -> None:
    assert seconds(headers, error) == wait_s
