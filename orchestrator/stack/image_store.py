"""The engine's images as a store by content: found by a label, built, imported, proven, removed."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import docker
from docker.errors import (
    APIError,
    BuildError,
    ContainerError,
    DockerException,
    ImageNotFound,
)

from orchestrator.stack.engine import Engine
from orchestrator.stack.installation import LABEL
from orchestrator.stack.steps import StepFailed

# No installation's name among an image's labels: its containers would inherit it, and images are
# shared between installations. Whose an image is, its tags say.
CONTENT_LABEL = "sandgate.content"
BUILD_S = 900
INSTALL = "apt-get -qq update && apt-get -qq install --yes --no-install-recommends"
REGISTRY_PATIENCE_S = 20


@dataclass(frozen=True, slots=True)
class ImageStore:
    """The images of the installation `name` on one engine."""

    engine: Engine
    client: docker.DockerClient
    name: str
    """Tags carry it, so that a purge finds this installation's images only."""

    @classmethod
    @contextmanager
    def on(cls, engine: Engine, name: str) -> Iterator[Self]:
        """The store, for a while.

        Raises: StepFailed in place of what the engine's client raises.
        """
        client = engine.client(timeout_s=BUILD_S)
        try:
            yield cls(engine, client, name)
        except DockerException as error:
            raise StepFailed("The engine refused to make an image", why=str(error)) from error
        finally:
            client.close()

    def tag(self, kind: str, content: str) -> str:
        """The tag of the image `kind` with this content."""
        return f"sandgate/{self.name}-{kind}:{content[:12]}"

    def has(self, kind: str, content: str) -> bool:
        """Say whether it is there; one that another installation built is tagged for us."""
        tag = self.tag(kind, content)
        try:
            self.client.images.get(tag)
        except ImageNotFound:
            same = self.client.images.list(filters={"label": f"{CONTENT_LABEL}={content}"})
            # The unfinished layers of a build carry its base's label: only what was tagged is whole.
            whole = next((i for i in same if any(f"-{kind}:" in known for known in i.tags)), None)
            return whole is not None and whole.tag(*tag.split(":"))
        return True

    def build(
        self,
        kind: str,
        content: str,
        context: Path,
        *,
        base: str,
        labels: Mapping[str, str] | None = None,
    ) -> None:
        """Build the image on the image `base`, without a network; `context` is a folder, or a tar of one.

        Raises: StepFailed with the end of the build's log.
        """
        # Of a folder the engine's client first writes a tar; one that is there is sent as it is.
        sent = context.open("rb") if context.is_file() else nullcontext()
        try:
            with sent as tar:
                self.client.images.build(
                    path=str(context),
                    fileobj=tar,
                    custom_context=tar is not None,
                    tag=self.tag(kind, content),
                    buildargs={"BASE": base},
                    labels={**(labels or {}), CONTENT_LABEL: content},
                    network_mode="none",
                    rm=True,
                    forcerm=True,
                    timeout=BUILD_S,
                )
        except (BuildError, APIError) as error:
            raise StepFailed(f"Building the {kind} image failed", why=_log_of(error)) from error

    def import_tar(self, kind: str, content: str, tar: Path) -> None:
        """Make an image of a root file system."""
        repository, _, version = self.tag(kind, content).partition(":")
        self.client.api.import_image_from_file(
            str(tar),
            repository=repository,
            tag=version,
            changes=_changes(content),
        )

    def install(self, kind: str, content: str, image: str, packages: Iterable[str]) -> None:
        """Make an image of a registry's Debian `image` and packages of its own archive.

        Raises: StepFailed with the end of what apt said.
        """
        container = self.client.containers.create(
            image,
            ["sh", "-c", f"{INSTALL} {' '.join(packages)} && rm -rf /var/lib/apt/lists/*"],
            environment={"DEBIAN_FRONTEND": "noninteractive"},
            network_mode="host",
            dns=name_servers(),  # an engine that we started gives containers a dead one
        )
        try:
            container.start()
            if container.wait(timeout=BUILD_S)["StatusCode"]:
                raise StepFailed(
                    f"Adding packages to {image} failed", why=container.logs(tail=8).decode()
                )
            repository, _, version = self.tag(kind, content).partition(":")
            container.commit(repository, version, changes=_changes(content), pause=False)
        finally:
            with suppress(APIError):
                container.remove(force=True)

    def prove(self, tag: str, *command: str) -> None:
        """Run a command in the image once, and remove the image when it fails.

        An import of half a file succeeds, and so does a copy of a program for another machine.
        Raises: StepFailed.
        """
        try:
            self.output(tag, *command)
        except (DockerException, OSError) as error:
            self.client.images.remove(tag, force=True)
            raise StepFailed(
                f"The image {tag} does not run",
                why=str(error),
                what_to_do="Run the same command again; if it persists, see the engine's log.",
            ) from error

    def output(self, tag: str, *command: str) -> str:
        """What a command says in a container of the image, without a network."""
        return run_once(self.client, tag, command, labels={LABEL: self.name})

    def can_have(self, image: str) -> bool:
        """Say whether `image` is here or a registry gives it; no long wait for one that is silent."""
        patient = self.engine.client(timeout_s=REGISTRY_PATIENCE_S)
        try:
            patient.images.get(image)
        except ImageNotFound:
            try:
                patient.images.pull(image)
            except (DockerException, OSError):
                return False
        finally:
            patient.close()
        return True

    def remove_all(self, *, keep: Collection[str] = ()) -> list[str]:
        """Remove this installation's tags but `keep`, and with them images that no other shares."""
        removed: list[str] = []
        for image in self.client.images.list():
            for tag in image.tags:
                if tag.startswith(f"sandgate/{self.name}-") and tag not in keep:
                    with suppress(APIError):  # a container still uses it: it isn't in the answer
                        self.client.images.remove(tag)
                        removed.append(tag)
        return removed


def run_once(client: docker.DockerClient, tag: str, command: Sequence[str], **options: Any) -> str:
    """What `command` says on stdout in a container of its own, without a network.

    Raises: DockerException when it can't run or ends with another code than 0.
    """
    container = client.containers.create(tag, list(command), network_mode="none", **options)
    try:
        container.start()
        code = container.wait()["StatusCode"]
        if code:
            raise ContainerError(container, code, list(command), tag, container.logs().decode())
        return container.logs(stderr=False).decode().strip()
    finally:
        with suppress(APIError):  # somebody may clear up ended containers at the same moment
            container.remove(force=True)


def name_servers(resolv: Path = Path("/etc/resolv.conf")) -> list[str]:
    """The name servers of this machine."""
    text = resolv.read_text() if resolv.exists() else ""
    return [line.split()[1] for line in text.splitlines() if line.startswith("nameserver ")]


def _changes(content: str) -> list[str]:
    return ["ENV LANG=C.UTF-8", 'CMD ["/bin/bash"]', f"LABEL {CONTENT_LABEL}={content}"]


def _log_of(error: BuildError | APIError) -> str:
    if isinstance(error, APIError):
        return str(error)
    lines = [str(line.get("stream") or line.get("error") or "") for line in error.build_log]
    return "".join(lines)[-2000:]
