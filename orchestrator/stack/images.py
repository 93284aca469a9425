"""The images of an installation: one of sandboxes for each harness wished, and `execd`.

The same content is never built twice. It is the image's label and the end of its tag, so "is it
there?" is one question to the engine, and an image that another installation made is only tagged.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.stack.engine import Engine
from orchestrator.stack.harness_programs import NATIVE
from orchestrator.stack.image_recipes import OF_HARNESS, STANDS_ON, ImageRecipes, kinds_here
from orchestrator.stack.image_store import ImageStore
from orchestrator.stack.packages import DebianPackages
from orchestrator.stack.room import require_room
from orchestrator.stack.steps import Step

IMAGES = Path(__file__).resolve().parents[2] / "images"


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

        Raises: StepFailed when a part can't be fetched, a disk has no room or a build fails.
        """
        recipes = self.recipes
        by_harness = {name: OF_HARNESS[name] for name in (NATIVE, *self.harnesses)}
        wanted = [*by_harness.values(), *([] if self.execd_image else ["execd"])]
        with ImageStore.on(self.engine, self.name) as store:
            recipes.clear_scratch()
            missing = self._missing(store, wanted)
            require_room(missing, home=self.cache, engine=self.engine.data_root)
            for kind in missing:
                recipes.build(kind, store, step)
            if step.worked:
                self._remove_older(store)
            tags = {kind: store.tag(kind, self.content(kind)) for kind in wanted}
        step.note(", ".join(tag.rpartition("/")[2] for tag in tags.values()))
        return ImageTags(
            {name: tags[kind] for name, kind in by_harness.items()},
            execd=self.execd_image or tags["execd"],
        )

    @property
    def recipes(self) -> ImageRecipes:
        """How they are made."""
        return ImageRecipes(self.source, self.cache, self.debian)

    def content(self, kind: str) -> str:
        """The content hash of the image `kind`. Raises: StepFailed where there is no such program."""
        return self.recipes.content(kind)

    def _missing(self, store: ImageStore, wanted: Sequence[str]) -> list[str]:
        """What is to be built for `wanted`, in order: what something stands on comes before it."""
        missing: list[str] = []
        for kind in wanted:
            chain: list[str] = []
            below: str | None = kind
            while below and below not in missing and not store.has(below, self.content(below)):
                chain.insert(0, below)
                below = STANDS_ON.get(below)
            missing += chain
        return missing

    def _remove_older(self, store: ImageStore) -> None:
        """Remove what an upgrade has left behind; a sandbox that still runs keeps its image."""
        store.remove_all(keep=[store.tag(kind, self.content(kind)) for kind in kinds_here()])
        keep = {self.recipes.tar, *self.recipes.archives}
        for file in (*self.cache.glob("base-*.tar"), *self.cache.glob("npm/*.tgz")):
            if file not in keep:
                file.unlink()
