"""Tests marked `docker` need an engine and root: they are skipped without, or fail with --require-docker."""

import os

import docker
import pytest
from docker.errors import DockerException


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--require-docker",
        action="store_true",
        help="fail the tests that need Docker when it isn't there, instead of skipping them",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not any(item.get_closest_marker("docker") for item in items):
        return
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
