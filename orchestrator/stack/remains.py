"""What of an installation lies outside its home: in the Docker engine, and in the kernel."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from docker import DockerClient
from docker.errors import APIError, DockerException, ImageNotFound, NotFound

from orchestrator.adapters.opensandbox.blueprint import RUN
from orchestrator.adapters.watched_disks import OWNED_BY as DISKS_LABEL
from orchestrator.stack import engine, network
from orchestrator.stack.installation import LABEL, Installation
from orchestrator.stack.steps import StepFailed
from orchestrator.stack.wiring import bridge_of


class Remains(Protocol):
    """Removes what belongs to one installation, and says what; a second time finds nothing."""

    def containers(self, spare: frozenset[str] = frozenset()) -> Iterator[str]:
        """Its containers and their volumes, but for those of the runs in `spare`. Raises: StepFailed."""
        ...

    def everything_else(self) -> Iterator[str]:
        """Its network, its nft table and its images; its containers must be gone. Raises: StepFailed."""
        ...


class InEngine:
    """`Remains` in an engine that answers."""

    def __init__(self, client: DockerClient, here: Installation) -> None:
        self._client = client
        self._here = here

    def containers(self, spare: frozenset[str] = frozenset()) -> Iterator[str]:
        """Containers made through OpenSandbox carry `installation`, those of our own the full label."""
        with _translated(self._here):
            for label in (f"installation={self._here.name}", f"{LABEL}={self._here.name}"):
                found = self._client.containers.list(
                    all=True, filters={"label": label}, ignore_removed=True
                )
                for container in found:
                    if container.labels.get(RUN) in spare:
                        continue
                    with _gone_already():
                        container.remove(force=True, v=True)
                        yield f"removed container {container.name}"
            owned = {"label": f"{LABEL}={self._here.name}"}
            for volume in self._client.volumes.list(filters=owned):
                if (volume.attrs.get("Labels") or {}).get(RUN) in spare:
                    continue
                with _gone_already():
                    volume.remove()
                    yield f"removed volume {volume.name}"

    def everything_else(self) -> Iterator[str]:
        """Disks, network, table, images. An image that another installation has under its own tag stays."""
        with _translated(self._here):
            disks = {"label": f"{DISKS_LABEL}={self._here.name}"}
            for volume in self._client.volumes.list(filters=disks):
                with _gone_already():
                    volume.remove()
                    yield f"removed volume {volume.name}"
            for removed in network.remove(self._client, bridge_of(self._here)):
                yield f"removed {removed}"
            tags = [tag for image in self._client.images.list() for tag in image.tags]
            for tag in tags:
                if tag.startswith(f"sandgate/{self._here.name}-"):
                    with _gone_already():
                        self._client.images.remove(tag)
                        yield f"removed image {tag}"


class NoEngine:
    """`Remains` where no engine answers: nothing runs then, but what it keeps can't be removed."""

    def __init__(self, here: Installation, docker_host: str) -> None:
        self._here = here
        self._docker_host = docker_host

    def containers(self, spare: frozenset[str] = frozenset()) -> Iterator[str]:
        """None runs without an engine."""
        del spare
        yield from ()

    def everything_else(self) -> Iterator[str]:
        """Nothing, on a machine without an engine. Raises: StepFailed when there is one that is down."""
        if self._docker_host or shutil.which("dockerd"):
            raise StepFailed(
                f"{self._here.name} can't be removed whole",
                why="the Docker engine doesn't answer, and may keep its network and images",
                what_to_do="Start the engine, then run the same command again.",
            )
        yield from ()


@contextmanager
def remains_of(here: Installation, docker_host: str) -> Iterator[Remains]:
    """What there is of an installation at the engine that answers, if one does. Raises: StepFailed."""
    found = engine.find(docker_host or None)
    if found is None:
        yield NoEngine(here, docker_host)
        return
    with _translated(here):
        client = found.client()
    try:
        yield InEngine(client, here)
    finally:
        client.close()


@contextmanager
def _gone_already() -> Iterator[None]:
    """Somebody else may be removing the same thing: what is gone is gone."""
    try:
        yield
    except (NotFound, ImageNotFound):
        return
    except APIError as error:
        if "already in progress" not in str(error):
            raise


@contextmanager
def _translated(here: Installation) -> Iterator[None]:
    try:
        yield
    except (DockerException, OSError) as error:  # the latter when it doesn't answer any more
        raise StepFailed(
            f"not everything of {here.name} could be removed from the engine",
            why=str(getattr(error, "explanation", None) or error),
            what_to_do="Run the same command again.",
        ) from error
