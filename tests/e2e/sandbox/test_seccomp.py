"""The engine's own list of calls is read as it resolves it, and what it refuses is refused in a sandbox."""

import json

import pytest

from orchestrator.stack.opensandbox import SECCOMP
from orchestrator.stack.seccomp import allowed, both, engines_own
from tests.e2e.sandbox.lab import Lab

pytestmark = pytest.mark.docker

NEEDED = {"read", "openat", "clone", "socket", "execve", "futex", "epoll_wait", "rseq", "statx"}


def test_a_sandbox_may_make_no_call_that_the_engine_itself_refuses(lab: Lab) -> None:
    """CASE-18."""
    ours = json.loads(SECCOMP.read_text())
    engines = engines_own(lab.client, lab.images.sandbox, lab.bridge.name)
    assert engines is not None
    assert "mount" not in allowed(engines), "it is the profile of a container without capabilities"
    met = allowed(both(ours, engines))
    assert met <= allowed(engines)
    assert met >= NEEDED
    assert len(met) > 200
    assert "io_uring_setup" not in met
    assert lab.containers() == []
