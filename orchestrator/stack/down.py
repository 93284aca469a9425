"""Takes an installation down, or away: sandboxes first, so that none is ever without its door."""

import shutil
from collections.abc import Iterator

from docker import DockerClient
from docker.errors import DockerException, ImageNotFound

from orchestrator.adapters.disk import release_all
from orchestrator.settings import Environment
from orchestrator.stack import engine, network
from orchestrator.stack.installation import LABEL, Installation
from orchestrator.stack.process import stop_recorded
from orchestrator.stack.steps import StepFailed
from orchestrator.stack.wiring import bridge_of

PROGRAMS = ("runner", "githost", "model", "opensandbox", "polarion", "pocketbase")
GRACE_S = 15.0


def down(here: Installation) -> Iterator[str]:
    """Stop everything that runs of it; what it made stays. Says what it stopped.

    Raises: StepFailed when a part can't be stopped.
    """
    with here.only_one():
        yield from _stop(here)


def purge(here: Installation) -> Iterator[str]:
    """Stop it and remove every trace, data included. Says what it removed. Raises: StepFailed."""
    with here.only_one():
        yield from _stop(here)
        client = _client()
        if client:
            yield from _remove_from_engine(client, here)
    shutil.rmtree(here.home)
    yield f"removed {here.home}"


def _stop(here: Installation) -> Iterator[str]:
    if stop_recorded(here.run / "runner.pid", grace_s=GRACE_S):
        yield "stopped runner"
    client = _client()
    if client:
        yield from _remove_containers(client, here)
    for folder in release_all(here.tasks):
        yield f"unmounted {folder}"
    for name in PROGRAMS[1:]:
        if stop_recorded(here.run / f"{name}.pid", grace_s=GRACE_S):
            yield f"stopped {name}"


def _client() -> DockerClient | None:
    found = engine.find(Environment().docker_host or None)
    return found.client() if found else None


def _remove_containers(client: DockerClient, here: Installation) -> Iterator[str]:
    """Containers made through OpenSandbox carry `installation`, those of our own the full label."""
    for label in (f"installation={here.name}", f"{LABEL}={here.name}"):
        for container in client.containers.list(all=True, filters={"label": label}):
            container.remove(force=True)
            yield f"removed container {container.name}"
    for volume in client.volumes.list(filters={"label": f"{LABEL}={here.name}"}):
        volume.remove()
        yield f"removed volume {volume.name}"


def _remove_from_engine(client: DockerClient, here: Installation) -> Iterator[str]:
    try:
        for removed in network.remove(client, bridge_of(here)):
            yield f"removed {removed}"
        for image in client.images.list():
            for tag in image.tags:
                if tag.startswith(f"sandgate/{here.name}-"):
                    yield from _untag(client, tag)
    except DockerException as error:
        raise StepFailed(
            f"not everything of {here.name} could be removed from the engine", why=str(error)
        ) from error


def _untag(client: DockerClient, tag: str) -> Iterator[str]:
    try:
        client.images.remove(tag)
    except ImageNotFound:
        return
    yield f"removed image {tag}"
