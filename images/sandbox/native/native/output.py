"""Long results are cut to head and tail; the whole is kept in a file that the model is told of."""

import itertools
import tempfile
from dataclasses import dataclass
from pathlib import Path

LONGEST_CHARS = 30_000
_HEAD_CHARS = 10_000
_KEPT_FILES = 12


@dataclass(frozen=True)
class Outcome:
    """What a tool gives back."""

    text: str
    is_error: bool = False


class ToolError(Exception):
    """The tool can't do it. The message tells the model why and what to do."""


class Spill:
    """Files under the temporary folder for what was too long; the oldest make room for new ones."""

    def __init__(self, parent: Path | None = None) -> None:
        self._folder: Path | None = None
        self._parent = parent
        self._numbers = itertools.count(1)

    def new(self, name: str) -> Path:
        """A path for a new file.

        Raises:
            OSError: the folder can't be made.
        """
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="sandgate-", dir=self._parent))
        kept = sorted(self._folder.iterdir())
        for old in kept[: max(0, len(kept) - _KEPT_FILES + 1)]:
            old.unlink(missing_ok=True)
        return self._folder / f"{next(self._numbers):05d}-{name}"

    def keep(self, data: bytes, name: str) -> str:
        """Write a file and say where it is, or why there is none."""
        try:
            path = self.new(name)
            path.write_bytes(data)
        except OSError as error:
            return f"could not be kept: {error.strerror}"
        return str(path)

    def bounded(self, text: str, name: str) -> str:
        """`text` if it is short enough, else its head and tail and where the whole is."""
        if len(text) <= LONGEST_CHARS:
            return text
        where = self.keep(text.encode("utf-8", "replace"), name)
        return cut(text, f"{len(text) - LONGEST_CHARS} characters", where)


def cut(text: str, left_out: str, where: str) -> str:
    """Head and tail of a long text, and between them what is left out and where all of it is."""
    tail = LONGEST_CHARS - _HEAD_CHARS
    note = f"\n[... {left_out} left out; all of it: {where} ...]\n"
    return f"{text[:_HEAD_CHARS]}{note}{text[-tail:]}"
