"""What is known of frozen sandboxes, one JSON file each. Blocking."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from entrance.errors import Malformed, Unavailable
from entrance.log.shelf import put
from entrance.session import RunId
from orchestrator.domain.frozen import Frozen

_FROZEN: TypeAdapter[Frozen] = TypeAdapter(Frozen)


class FrozenFiles:
    """Implements `ports.FrozenStore` in a folder, which needs not be there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load(self) -> Sequence[Frozen]:
        """All of them. Raises: Malformed that names the file: it is never taken for nothing."""
        found = []
        for path in sorted(self._folder.glob("*.json")):
            try:
                found.append(_FROZEN.validate_json(path.read_bytes()))
            except ValidationError as error:
                raise Malformed(f"{path} does not say which sandbox is frozen") from error
        return found

    def runs(self) -> frozenset[RunId]:
        """The runs whose sandboxes are frozen: by the files' names, so that an unreadable one counts."""
        return frozenset(RunId(path.stem) for path in self._folder.glob("*.json"))

    def save(self, frozen: Frozen) -> None:
        """On the disk when it returns, whole or not at all. Raises: Unavailable."""
        path = self._path(frozen.run)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            put(path, _FROZEN.dump_json(frozen, indent=1))
        except OSError as error:
            raise Unavailable(f"{path} can't be written: {error.strerror}") from error

    def delete(self, run: RunId) -> None:
        """Idempotent. Raises: Unavailable."""
        try:
            self._path(run).unlink(missing_ok=True)
        except OSError as error:
            raise Unavailable(f"{self._path(run)} can't be removed: {error.strerror}") from error

    def _path(self, run: RunId) -> Path:
        return self._folder / f"{run}.json"
