"""Tests marked `docker` need an engine and root: they are skipped without, or fail with --require-docker."""

import os
import signal

import docker
import pytest
from docker.errors import DockerException
from hypothesis import HealthCheck, settings
from rich.console import Console

from orchestrator.settings import Environment
from orchestrator.stack import engine
from orchestrator.stack.packages import DebianPackages
from orchestrator.stack.steps import StepFailed, Steps

# A busy machine is no fault of the code: no test is judged by its time.
settings.register_profile(
    "sandgate", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("sandgate")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell that runs us in the background has switched Ctrl-C off, for all that we start as well.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--require-docker",
        action="store_true",
        help="fail the tests that need Docker when it isn't there, instead of skipping them",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not any(item.get_closest_marker("docker") for item in items):
        return
    if config.getoption("--require-docker"):
        _have_an_engine()
    missing = _missing()
    if not missing:
        return
    for item in items:
        if item.get_closest_marker("docker"):
            item.add_marker(
                pytest.mark.usefixtures("fail_without_docker")
                if config.getoption("--require-docker")
                else pytest.mark.skip(reason=missing)
            )


@pytest.fixture
def fail_without_docker() -> None:
    """Fails: Docker was required, and isn't there."""
    pytest.fail(_missing() or "Docker was not there when the tests were collected")


def _have_an_engine() -> None:
    """Docker was required: install and start it by the product's own set-up, if there is none."""
    try:
        with Steps(Console(stderr=True)).step("Docker engine for the tests") as step:
            engine.ensure(step, DebianPackages(), docker_host=Environment().docker_host)
    except StepFailed as error:
        raise pytest.UsageError(str(error)) from error


def _missing() -> str:
    """Why tests with Docker can't run; empty when they can."""
    if os.geteuid() != 0:
        return "these tests make networks and mounts: run them as root"
    try:
        client = docker.from_env(timeout=10)
    except DockerException as error:
        return f"no Docker engine answers ({error}): `make up` installs and starts one"
    client.close()
    return ""
