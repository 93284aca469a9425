"""The images of sandboxes, one a harness, and of `execd`: the same content is never built twice.

An image's content is a hash over everything that goes into it: our files, the package list, the
Debian suite, the harnesses. It is the image's label and the end of its tag, so "is it there?" is one
question to the engine. No build has a network: what comes from outside is fetched on the host
first, pinned by its hash. (One exception: packages onto a registry's Debian, in a container of its
own that holds nothing of ours.)
"""

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.adapters.opensandbox.blueprint import PROGRAM_LABELS
from orchestrator.stack import apt_sources, native, rootfs
from orchestrator.stack.content import copy_content, digest, tree_hash
from orchestrator.stack.engine import Engine
from orchestrator.stack.harness_programs import HARNESS_PROGRAMS, NATIVE, lay_out
from orchestrator.stack.image_store import ImageStore
from orchestrator.stack.packages import DebianPackages
from orchestrator.stack.steps import Step, StepFailed

IMAGES = Path(__file__).resolve().parents[2] / "images"
PACK_S = 60
# Raise one when this module lays that image out differently from the same files.
LAYOUT = {"base": "3", "sandbox": "4", "execd": "3", "harness": "1"}
# In the folder of the sandbox, but read by others: no part of the image.
NOT_IN_SANDBOX = ("packages.txt", "seccomp.json")
KINDS = ("base", "sandbox", *(f"sandbox-{name}" for name in HARNESS_PROGRAMS), "execd")


@dataclass(frozen=True, slots=True)
class ImageTags:
    """The images that sandboxes are made from."""

    by_harness: Mapping[str, str]
    """The sandbox image for each harness that is there."""
    execd: str

    @property
    def sandbox(self) -> str:
        """The one with the native loop; those of other harnesses stand on it."""
        return self.by_harness[NATIVE]


@dataclass(frozen=True, slots=True)
class ImageBuilder:
    """Builds the images of the installation `name` on `engine`."""

    engine: Engine
    name: str
    cache: Path
    debian: DebianPackages = field(default_factory=DebianPackages)
    harnesses: tuple[str, ...] = ()
    """Those with a sandbox image of their own, besides the native loop."""
    execd_image: str = ""
    """An execd image to use instead of ours."""
    source: Path = IMAGES

    def ensure(self, step: Step) -> ImageTags:
        """Return the tags of up-to-date images, building what is missing.

        Raises: StepFailed when a part can't be fetched or a build fails.
        """
        with ImageStore.on(self.engine, self.name) as store:
            sandbox = self._ensure(store, step, "sandbox", self._sandbox)
            by_harness = {NATIVE: sandbox} | {
                harness: self._ensure(store, step, kind_of(harness), self._program(harness))
                for harness in self.harnesses
            }
            execd = self.execd_image or self._ensure(store, step, "execd", self._execd)
            if step.worked:
                self._remove_older(store)
        step.note(", ".join(tag.rpartition("/")[2] for tag in (*by_harness.values(), execd)))
        return ImageTags(by_harness, execd)

    def content(self, kind: str) -> str:
        """The content hash of the image `kind`: one of KINDS."""
        if kind == "base":
            return digest("base", LAYOUT["base"], apt_sources.this_suite(), *self._packages())
        if kind == "sandbox":
            files = tree_hash(self.source / "sandbox", leave_out=NOT_IN_SANDBOX)
            return digest("sandbox", LAYOUT["sandbox"], self.content("base"), files)
        if kind == "execd":
            files = tree_hash(self.source / "execd")
            return digest("execd", LAYOUT["execd"], self.content("base"), files)
        program = HARNESS_PROGRAMS[kind.removeprefix("sandbox-")]
        files = tree_hash(self.source / "harness")
        made_of = (self.content("sandbox"), files, program.integrity, *program.keep)
        return digest(kind, LAYOUT["harness"], *made_of)

    def _ensure(
        self,
        store: ImageStore,
        step: Step,
        kind: str,
        build: Callable[[ImageStore, Step, str], None],
    ) -> str:
        content = self.content(kind)
        if not store.has(kind, content):
            build(store, step, content)
        return store.tag(kind, content)

    def _remove_older(self, store: ImageStore) -> None:
        """Remove what an upgrade has left behind; a sandbox that still runs keeps its image."""
        store.remove_all(keep=[store.tag(kind, self.content(kind)) for kind in KINDS])
        for tar in self.cache.glob("base-*.tar"):
            if tar != self._tar():
                tar.unlink()

    def _tar(self) -> Path:
        return self.cache / f"base-{self.content('base')[:12]}.tar"

    def _base(self, store: ImageStore, step: Step, content: str) -> None:
        image = f"debian:{apt_sources.this_suite()}-slim"
        step.doing(f"asking a registry for {image}")
        if store.can_have(image):
            step.doing(f"adding packages to {image}")
            store.install("base", content, image, self._packages())
        else:
            tar = self._tar()
            if not tar.exists():
                rootfs.make_tar(tar, self._packages(), debian=self.debian, doing=step.doing)
            step.doing("importing the root file system")
            store.import_tar("base", content, tar)
        store.prove(store.tag("base", content), "git", "--version")

    def _sandbox(self, store: ImageStore, step: Step, content: str) -> None:
        base = self._ensure(store, step, "base", self._base)
        folder = self.source / "sandbox"
        with self._scratch() as context:
            for name in ("Dockerfile", "gitconfig", "git-credential"):
                copy_content(folder / name, context / name)
            loop = context / "opt" / "sandgate" / "native"
            step.doing("fetching the native loop's packages")
            copy_content(folder / "native", loop)
            native.install_packages(
                folder / "native" / "requirements.lock",
                into=loop / "site-packages",
                python_version=store.output(base, "python3", "-c", native.SAY_VERSION),
                cache=self.cache,
            )
            step.doing("building the sandbox image")
            program = {"name": NATIVE, "integrity": f"sha256-{tree_hash(folder / 'native')}"}
            store.build("sandbox", content, context, base=base, labels=_labels(program))

    def _program(self, harness: str) -> Callable[[ImageStore, Step, str], None]:
        """How the sandbox with the program of `harness` is built."""
        program, kind = HARNESS_PROGRAMS[harness], kind_of(harness)

        def build(store: ImageStore, step: Step, content: str) -> None:
            base = self._ensure(store, step, "sandbox", self._sandbox)
            with self._scratch() as context:
                copy_content(self.source / "harness" / "Dockerfile", context / "Dockerfile")
                step.doing(f"fetching {harness} {program.version}")
                lay_out(harness, context / "opt" / "harness" / harness, cache=self.cache)
                step.doing(f"building the sandbox image with {harness}")
                facts = {
                    "name": harness,
                    "version": program.version,
                    "integrity": program.integrity,
                }
                store.build(kind, content, context, base=base, labels=_labels(facts))
            store.prove(
                store.tag(kind, content), f"/opt/harness/{harness}/{program.path}", "--version"
            )

        return build

    def _execd(self, store: ImageStore, step: Step, content: str) -> None:
        base = self._ensure(store, step, "base", self._base)
        step.doing("building the execd image")
        folder = self.source / "execd"
        with self._scratch() as context:
            for name in ("Dockerfile", "bootstrap.sh"):
                copy_content(folder / name, context / name)
            (context / "bootstrap.sh").chmod(0o755)
            _run(sys.executable, str(folder / "build.py"), str(context / "execd"))
            store.build("execd", content, context, base=base)

    def _packages(self) -> tuple[str, ...]:
        return rootfs.package_list((self.source / "sandbox" / "packages.txt").read_text())

    @contextmanager
    def _scratch(self) -> Iterator[Path]:
        self.cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.cache, prefix="build-") as folder:
            yield Path(folder)


def kind_of(harness: str) -> str:
    """The kind of image that a sandbox of this harness is made from."""
    return "sandbox" if harness == NATIVE else f"sandbox-{harness}"


def _labels(program: Mapping[str, str]) -> dict[str, str]:
    return {PROGRAM_LABELS[fact]: value for fact, value in program.items()}


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PACK_S)
    if done.returncode:
        raise StepFailed("Packing execd failed", why=done.stderr.strip()[-800:])
