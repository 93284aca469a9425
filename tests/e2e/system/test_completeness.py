"""Nothing is missing in the egress log, and nothing is in it twice, though what writes it is killed."""

import pytest

from tests.e2e.completeness.trial import tried
from tests.e2e.house import House
from tests.servers.certificates import WebAuthority

pytestmark = [pytest.mark.docker, pytest.mark.timeout(300)]

SANDBOXES, ATTEMPTS = 4, 2000
"""What a minute has room for; `python -m tests.bench.completeness` does it with 20 and 50,000."""


def test_every_attempt_is_in_the_log_exactly_once_whoever_is_killed(
    own: House, web: WebAuthority
) -> None:
    """Sandboxes and canaries count what they see; the runner and the egress proxy are killed meanwhile."""
    result = tried(own, web, SANDBOXES, ATTEMPTS)
    assert result.wrong == []
    assert result.figures["attempts"] == ATTEMPTS
    assert result.verified["ok"], result.verified
