"""The images `sandbox` and `execd`, built by content: the same content is never built twice.

An image's content is a hash over everything that goes into it: our files, the package list, the
Debian suite, the harnesses. It is the image's label and the end of its tag, so "is it there?" is one
question to the engine. No build has a network: what comes from outside is fetched on the host
first, pinned by its hash. (One exception: packages onto a Debian from a registry.)
"""

import hashlib
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import docker
from docker.errors import APIError, BuildError, DockerException, ImageNotFound

from orchestrator.stack import native, rootfs
from orchestrator.stack.engine import Engine
from orchestrator.stack.harness_programs import HARNESS_PROGRAMS, lay_out
from orchestrator.stack.packages import DebianPackages
from orchestrator.stack.steps import Step, StepFailed

IMAGES = Path(__file__).resolve().parents[2] / "images"
CONTENT_LABEL = "sandgate.content"
INSTALLATION_LABEL = "sandgate.installation"
# Raise it when this module lays images out differently from the same files.
LAYOUT = "1"
BUILD_S = 900
REGISTRY_PATIENCE_S = 20
NOT_CONTENT = {"__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache"}


@dataclass(frozen=True, slots=True)
class ImageTags:
    """The tags of an installation's two images."""

    sandbox: str
    execd: str


@dataclass(frozen=True, slots=True)
class ImageBuilder:
    """Builds the images of one installation on one engine."""

    engine: Engine
    name: str
    """The installation's name: the tags carry it, so that a purge finds its own images only."""
    cache: Path
    debian: DebianPackages
    env: Mapping[str, str]
    """The environment that package tools run with."""
    source: Path = IMAGES
    harnesses: tuple[str, ...] = field(default=())
    """Harness programs to add to the sandbox besides the native loop."""

    def ensure(self, step: Step) -> ImageTags:
        """Return the tags of up-to-date images, building what is missing.

        Raises: StepFailed when a part can't be fetched or a build fails.
        """
        client = self.engine.client(timeout_s=BUILD_S)
        try:
            tags = ImageTags(
                sandbox=self._ensure(client, step, "sandbox", self._sandbox),
                execd=self._ensure(client, step, "execd", self._execd),
            )
        except DockerException as error:
            raise StepFailed("The engine refused to make an image", why=str(error)) from error
        finally:
            client.close()
        step.note(f"{tags.sandbox.rpartition(':')[2]}, {tags.execd.rpartition(':')[2]}")
        return tags

    def contents(self) -> dict[str, str]:
        """The content hash of each image: what decides whether one must be built."""
        base = digest("base", self._suite(), *self._packages())
        return {
            "base": base,
            "sandbox": digest(
                "sandbox",
                base,
                tree_hash(self.source / "sandbox", leave_out={"packages.txt", "seccomp.json"}),
                *(HARNESS_PROGRAMS[name].integrity for name in self.harnesses),
            ),
            "execd": digest("execd", base, tree_hash(self.source / "execd")),
        }

    def _ensure(
        self,
        client: docker.DockerClient,
        step: Step,
        kind: str,
        build: Callable[[docker.DockerClient, Step, str], None],
    ) -> str:
        content = self.contents()[kind]
        tag = f"sandgate/{self.name}-{kind}:{content[:12]}"
        if not _tagged(client, tag, content):
            build(client, step, tag)
        return tag

    def _base(self, client: docker.DockerClient, step: Step, tag: str) -> None:
        suite = self._suite()
        if _registry_has(self.engine, f"debian:{suite}-slim", step):
            self._base_from_registry(client, step, tag)
        else:
            self._base_from_archive(client, step, tag)
        _prove(client, tag)

    def _base_from_registry(self, client: docker.DockerClient, step: Step, tag: str) -> None:
        step.doing(f"adding packages to debian:{self._suite()}-slim")
        install = "apt-get update && apt-get install -y --no-install-recommends"
        packages = " ".join(self._packages())
        dockerfile = (
            f"FROM debian:{self._suite()}-slim\n"
            f"RUN {install} {packages} && rm -rf /var/lib/apt/lists/*\n"
        )
        with self._scratch() as context:
            (context / "Dockerfile").write_text(dockerfile)
            self._build(client, context, tag, "base", network="host")

    def _base_from_archive(self, client: docker.DockerClient, step: Step, tag: str) -> None:
        content = self.contents()["base"]
        tar = self.cache / f"base-{content[:12]}.tar"
        if not tar.exists():
            rootfs.make_tar(
                tar,
                suite=self._suite(),
                packages=self._packages(),
                sources=rootfs.debian_sources(rootfs.read_source_files(), self._suite()),
                debian=self.debian,
                env=self.env,
                doing=step.doing,
            )
        step.doing("importing the root file system")
        repository, _, version = tag.partition(":")
        labels = self._labels(content)
        client.api.import_image_from_file(
            str(tar),
            repository=repository,
            tag=version,
            changes=[
                "ENV LANG=C.UTF-8",
                'CMD ["/bin/bash"]',
                *(f"LABEL {key}={value}" for key, value in labels.items()),
            ],
        )

    def _sandbox(self, client: docker.DockerClient, step: Step, tag: str) -> None:
        base = self._ensure(client, step, "base", self._base)
        step.doing("building the sandbox image")
        with self._scratch() as context:
            folder = self.source / "sandbox"
            for name in ("Dockerfile", "gitconfig", "git-credential"):
                _copy(folder / name, context / name)
            opt = context / "opt"
            (opt / "sandgate").mkdir(parents=True)
            if (folder / "native").is_dir():
                step.doing("fetching the native loop's packages")
                _copy(folder / "native", opt / "sandgate" / "native")
                native.install_packages(
                    folder / "native" / "requirements.lock",
                    into=opt / "sandgate" / "native" / "site-packages",
                    python_version=_python_version(client, base),
                    cache=self.cache,
                    env=self.env,
                )
            for harness in self.harnesses:
                step.doing(f"fetching {harness}")
                lay_out(harness, opt / "harness" / harness, cache=self.cache, env=self.env)
            step.doing("building the sandbox image")
            self._build(client, context, tag, "sandbox", base=base)

    def _execd(self, client: docker.DockerClient, step: Step, tag: str) -> None:
        base = self._ensure(client, step, "base", self._base)
        step.doing("building the execd image")
        with self._scratch() as context:
            for name in ("Dockerfile", "execd", "bootstrap.sh"):
                _copy(self.source / "execd" / name, context / name)
            (context / "execd").chmod(0o755)
            (context / "bootstrap.sh").chmod(0o755)
            self._build(client, context, tag, "execd", base=base)

    def _build(
        self,
        client: docker.DockerClient,
        context: Path,
        tag: str,
        kind: str,
        *,
        base: str = "",
        network: str = "none",
    ) -> None:
        try:
            client.images.build(
                path=str(context),
                tag=tag,
                buildargs={"BASE": base} if base else {},
                labels=self._labels(self.contents()[kind]),
                network_mode=network,
                rm=True,
                forcerm=True,
                timeout=BUILD_S,
            )
        except (BuildError, APIError) as error:
            raise StepFailed(f"Building the {kind} image failed", why=_build_log(error)) from error

    def _labels(self, content: str) -> dict[str, str]:
        return {CONTENT_LABEL: content, INSTALLATION_LABEL: self.name}

    def _suite(self) -> str:
        release = Path("/etc/os-release")
        return rootfs.suite_of(release.read_text() if release.exists() else "")

    def _packages(self) -> tuple[str, ...]:
        return rootfs.package_list((self.source / "sandbox" / "packages.txt").read_text())

    @contextmanager
    def _scratch(self) -> Iterator[Path]:
        self.cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.cache, prefix="build-") as folder:
            yield Path(folder)


def digest(*parts: str) -> str:
    """One SHA-256 over `parts`, in which no part can pass for another's end."""
    whole = hashlib.sha256(LAYOUT.encode())
    for part in parts:
        whole.update(f"{len(part)}:{part}".encode())
    return whole.hexdigest()


def tree_hash(folder: Path, *, leave_out: Iterable[str] = ()) -> str:
    """One SHA-256 over the files of `folder`: their paths, whether executable, their bytes."""
    skip = NOT_CONTENT | set(leave_out)
    whole = hashlib.sha256()
    for file in sorted(folder.rglob("*")):
        path = file.relative_to(folder)
        if skip & set(path.parts) or file.suffix == ".pyc" or not file.is_file():
            continue
        executable = bool(file.stat().st_mode & stat.S_IXUSR)
        body = hashlib.sha256(file.read_bytes()).hexdigest()
        whole.update(f"{path.as_posix()}\0{executable}\0{body}\n".encode())
    return whole.hexdigest()


def _copy(source: Path, target: Path) -> None:
    """Copy a file or a folder with modes that don't depend on this machine's umask."""
    if not source.exists():
        raise StepFailed(
            "A part of an image is missing",
            why=f"{source} does not exist",
            what_to_do="Restore it from the repository (git status).",
        )
    if source.is_file():
        shutil.copyfile(source, target)
        target.chmod(0o755 if source.stat().st_mode & stat.S_IXUSR else 0o644)
        return
    target.mkdir(mode=0o755, parents=True, exist_ok=True)
    target.chmod(0o755)
    for child in sorted(source.iterdir()):
        if child.name not in NOT_CONTENT:
            _copy(child, target / child.name)


def _tagged(client: docker.DockerClient, tag: str, content: str) -> bool:
    """Say whether an image of this content exists, giving it `tag` if it has another one."""
    try:
        client.images.get(tag)
    except ImageNotFound:
        same = client.images.list(filters={"label": f"{CONTENT_LABEL}={content}"})
        if not same:
            return False
        return bool(same[0].tag(*tag.split(":")))
    return True


def _registry_has(engine: Engine, image: str, step: Step) -> bool:
    """Say whether the engine has or can pull `image`; soon, also where a registry never answers."""
    client = engine.client(timeout_s=REGISTRY_PATIENCE_S)
    try:
        client.images.get(image)
    except ImageNotFound:
        step.doing(f"asking a registry for {image}")
        try:
            client.images.pull(image)
        except (DockerException, OSError):
            return False
    finally:
        client.close()
    return True


def _prove(client: docker.DockerClient, tag: str) -> None:
    """Run the image once: an import of half a file also 'succeeds'."""
    try:
        client.containers.run(tag, ["git", "--version"], network_mode="none", remove=True)
    except (DockerException, OSError) as error:
        client.images.remove(tag, force=True)
        raise StepFailed(
            "The sandbox's base image does not run",
            why=str(error),
            what_to_do="Run the same command again; if it persists, check the engine's log.",
        ) from error


def _python_version(client: docker.DockerClient, image: str) -> str:
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    out = client.containers.run(image, ["python3", "-c", code], network_mode="none", remove=True)
    return out.decode().strip()


def _build_log(error: BuildError | APIError) -> str:
    if isinstance(error, APIError):
        return str(error)
    lines = [str(line.get("stream") or line.get("error") or "") for line in error.build_log]
    return "".join(lines).strip()[-2000:]
