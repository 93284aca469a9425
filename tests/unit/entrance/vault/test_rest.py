"""What a git host's answers mean: how long it wants to be left alone."""

import pytest

from entrance.vault.rest import LONGEST_WAIT_S, wait_of

DATE = {"Date": "Mon, 05 Jan 2026 09:00:00 GMT"}
EPOCH_OF_DATE = 1767603600


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        pytest.param({}, None, id="it does not say"),
        pytest.param({"Retry-After": "42"}, 42, id="in seconds"),
        pytest.param({"Retry-After": "0"}, 0, id="at once"),
        pytest.param(
            {**DATE, "Retry-After": "Mon, 05 Jan 2026 09:01:30 GMT"}, 90, id="at a time of its own"
        ),
        pytest.param(
            {**DATE, "Retry-After": "Mon, 05 Jan 2026 08:00:00 GMT"}, 0, id="at a time that is over"
        ),
        pytest.param(
            {**DATE, "x-ratelimit-reset": str(EPOCH_OF_DATE + 60)}, 60, id="GitHub's limit"
        ),
        pytest.param({**DATE, "ratelimit-reset": str(EPOCH_OF_DATE + 5)}, 5, id="GitLab's limit"),
        pytest.param({"Retry-After": "9" * 12}, LONGEST_WAIT_S, id="for ever"),
        pytest.param({"Retry-After": "soon"}, None, id="a word"),
        pytest.param(
            {"x-ratelimit-reset": str(EPOCH_OF_DATE)}, None, id="without a date of its own"
        ),
        pytest.param({**DATE, "x-ratelimit-reset": "9" * 30}, None, id="a year that there is not"),
    ],
)
def test_how_long_a_host_wants_to_be_left_alone(
    headers: dict[str, str], wait: float | None
) -> None:
    assert wait_of(headers) == wait
