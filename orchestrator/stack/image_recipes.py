"""How each kind of image is made, and what it is made of.

Kinds: `base` is a Debian; `sandbox` holds the native loop and an agent's tools; `sandbox-NAME` is
that and the program of the harness NAME; `sandbox-stdio` is that and what runs MCP servers of npm and
PyPI; `execd` is what OpenSandbox puts into every sandbox.

An image's content is a hash over everything that goes into it: our files, the package list, the
Debian suite, the harness. No build has a network: what comes from outside is fetched on the host
first, pinned by its hash. (One exception: packages onto a registry's Debian, in a container of its
own that holds nothing of ours.)
"""

import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from orchestrator.adapters.opensandbox.blueprint import PROGRAM_LABELS
from orchestrator.ports.sandboxes import STDIO
from orchestrator.stack import apt_sources, native, npm, rootfs
from orchestrator.stack.content import copy_content, digest, tree_hash
from orchestrator.stack.harness_programs import HARNESS_PROGRAMS, NATIVE, lay_out
from orchestrator.stack.image_store import ImageStore
from orchestrator.stack.packages import DebianPackages
from orchestrator.stack.steps import Step, StepFailed

PACK_S = 60
# Raise one when this module lays that image out differently from the same files.
LAYOUT = {"base": "3", "sandbox": "4", "execd": "3", "harness": "2", "stdio": "1"}
# In the folder of the sandbox, but read by others: no part of the image.
NOT_IN_SANDBOX = ("packages.txt", "seccomp.json")
OF_HARNESS: Mapping[str, str] = {
    NATIVE: "sandbox",
    **{name: f"sandbox-{name}" for name in (*HARNESS_PROGRAMS, STDIO)},
}
"""The kind of image that a harness's sandboxes are made from, and those of MCP servers."""
STANDS_ON: Mapping[str, str] = {
    "sandbox": "base",
    "execd": "base",
    **{kind: "sandbox" for name, kind in OF_HARNESS.items() if name != NATIVE},
}
KINDS = ("base", *STANDS_ON)
SCRATCH = "build-"
"""How the names of folders begin in which an image is put together."""
_HARNESS_OF = {kind: name for name, kind in OF_HARNESS.items()}


@dataclass(frozen=True, slots=True)
class ImageRecipes:
    """The recipes of the folder `source`; what they fetch is kept in `cache`."""

    source: Path
    cache: Path
    debian: DebianPackages

    def content(self, kind: str) -> str:
        """The content hash of the image `kind`. Raises: StepFailed where there is no such program."""
        if kind == "base":
            return digest("base", LAYOUT["base"], apt_sources.this_suite(), *self._packages())
        below = self.content(STANDS_ON[kind])
        if kind == "sandbox":
            files = tree_hash(self.source / "sandbox", leave_out=NOT_IN_SANDBOX)
            return digest("sandbox", LAYOUT["sandbox"], below, files)
        if kind == "execd":
            return digest("execd", LAYOUT["execd"], below, tree_hash(self.source / "execd"))
        if kind == OF_HARNESS[STDIO]:
            return digest("stdio", LAYOUT["stdio"], below, tree_hash(self.source / "stdio"))
        program = HARNESS_PROGRAMS[_HARNESS_OF[kind]]
        files = tree_hash(self.source / "harness")
        made_of = (below, files, program.package.integrity, *program.keep)
        return digest(kind, LAYOUT["harness"], *made_of)

    @property
    def tar(self) -> Path:
        """Where the base's root file system is kept, if it is made here."""
        return self.cache / f"base-{self.content('base')[:12]}.tar"

    @property
    def archives(self) -> Collection[Path]:
        """Where the packages of this machine's harness programs are kept."""
        return [npm.cached(p.package, self.cache) for p in HARNESS_PROGRAMS.values() if p.runs_here]

    def clear_scratch(self) -> None:
        """Remove what a build that was killed has left. One set-up at a time has the cache."""
        for folder in self.cache.glob(f"{SCRATCH}*"):
            shutil.rmtree(folder, ignore_errors=True)

    def build(self, kind: str, store: ImageStore, step: Step) -> None:
        """Make the image; what it stands on must be there. Raises: StepFailed."""
        match kind:
            case "base":
                self._base(store, step)
            case "sandbox":
                self._sandbox(store, step)
            case "execd":
                self._execd(store, step)
            case "sandbox-stdio":
                self._stdio(store, step)
            case _:
                self._harness(_HARNESS_OF[kind], store, step)

    def _base(self, store: ImageStore, step: Step) -> None:
        content = self.content("base")
        image = f"debian:{apt_sources.this_suite()}-slim"
        step.doing(f"asking a registry for {image}")
        if store.can_have(image):
            step.doing(f"adding packages to {image}")
            store.install("base", content, image, self._packages())
        else:
            if not self.tar.exists():
                rootfs.make_tar(self.tar, self._packages(), debian=self.debian, doing=step.doing)
            step.doing("importing the root file system")
            store.import_tar("base", content, self.tar)
        store.prove(store.tag("base", content), "git", "--version")

    def _sandbox(self, store: ImageStore, step: Step) -> None:
        base = self._below("sandbox", store)
        folder = self.source / "sandbox"
        with self._scratch() as context:
            for name in ("Dockerfile", "gitconfig", "git-credential", "git-hook"):
                copy_content(folder / name, context / name)
            loop = context / "opt" / "sandgate" / "native"
            step.doing("fetching the native loop's packages")
            copy_content(folder / "native", loop)
            self._packages_of(folder / "native", base, store, into=loop / "site-packages")
            step.doing("building the sandbox image")
            program = {"name": NATIVE, "integrity": f"sha256-{tree_hash(folder / 'native')}"}
            store.build(
                "sandbox", self.content("sandbox"), context, base=base, labels=_told(program)
            )

    def _harness(self, harness: str, store: ImageStore, step: Step) -> None:
        program, kind = HARNESS_PROGRAMS[harness], OF_HARNESS[harness]
        content = self.content(kind)
        archive = npm.fetch(program.package, cache=self.cache, step=step, size=program.size)
        step.doing(f"building the sandbox image with {harness} {program.version}")
        with self._scratch() as scratch:
            context = scratch / "context.tar"
            copy_content(self.source / "harness" / "Dockerfile", scratch / "Dockerfile")
            with tarfile.open(context, "w") as tar:
                tar.add(scratch / "Dockerfile", "Dockerfile")
                lay_out(harness, archive, tar)
            facts = {
                "name": harness,
                "version": program.version,
                "integrity": program.package.integrity,
            }
            below = self._below(kind, store)
            store.build(kind, content, context, base=below, labels=_told(facts))
        store.prove(store.tag(kind, content), f"/opt/harness/{harness}/{program.path}", "--version")

    def _stdio(self, store: ImageStore, step: Step) -> None:
        folder, kind = self.source / "stdio", OF_HARNESS[STDIO]
        content, below = self.content(kind), self._below(kind, store)
        with self._scratch() as context:
            copy_content(folder / "Dockerfile", context / "Dockerfile")
            programs = context / "opt" / "stdio"
            copy_content(folder / "bridge", programs / "bridge")
            copy_content(folder / "run", programs / "run")
            step.doing("fetching Node, npm and uv for MCP servers")
            self._packages_of(folder, below, store, into=programs / "packages")
            step.doing("building the sandbox image of MCP servers")
            facts = {"name": STDIO, "integrity": f"sha256-{tree_hash(folder)}"}
            store.build(kind, content, context, base=below, labels=_told(facts))
        store.prove(
            store.tag(kind, content), "sh", "-c", "node --version && npx --version && uvx -V"
        )

    def _packages_of(self, folder: Path, base: str, store: ImageStore, *, into: Path) -> None:
        native.install_packages(
            folder / "requirements.lock",
            into=into,
            python_version=store.output(base, "python3", "-c", native.SAY_VERSION),
            cache=self.cache,
        )

    def _execd(self, store: ImageStore, step: Step) -> None:
        step.doing("building the execd image")
        folder = self.source / "execd"
        with self._scratch() as context:
            for name in ("Dockerfile", "bootstrap.sh"):
                copy_content(folder / name, context / name)
            (context / "bootstrap.sh").chmod(0o755)
            _run(sys.executable, str(folder / "build.py"), str(context / "execd"))
            store.build("execd", self.content("execd"), context, base=self._below("execd", store))

    def _below(self, kind: str, store: ImageStore) -> str:
        base = STANDS_ON[kind]
        return store.tag(base, self.content(base))

    def _packages(self) -> tuple[str, ...]:
        return rootfs.package_list((self.source / "sandbox" / "packages.txt").read_text())

    @contextmanager
    def _scratch(self) -> Iterator[Path]:
        self.cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.cache, prefix=SCRATCH) as folder:
            yield Path(folder)


def kinds_here() -> Collection[str]:
    """The kinds that this machine can have: not every harness's program runs on every processor."""
    return [kind for kind in KINDS if kind not in _HARNESS_OF or _runs_here(_HARNESS_OF[kind])]


def _runs_here(harness: str) -> bool:
    return harness not in HARNESS_PROGRAMS or HARNESS_PROGRAMS[harness].runs_here


def _told(program: Mapping[str, str]) -> dict[str, str]:
    """What an image's labels say of the harness in it."""
    return {PROGRAM_LABELS[fact]: value for fact, value in program.items()}


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PACK_S)
    if done.returncode:
        raise StepFailed("Packing execd failed", why=done.stderr.strip()[-800:])
