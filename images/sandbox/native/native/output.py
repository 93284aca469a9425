"""Long results are cut to head and tail; the whole is kept in a file that the model is told of."""

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
    """Files for what was too long, in a folder that is made when it is needed.

    There are at most `most`; the oldest make room for new ones. Without a folder it is one of the
    temporary ones.
    """

    def __init__(self, folder: Path | None = None, *, most: int = _KEPT_FILES) -> None:
        self._folder = folder
        self._most = most

    def new(self, name: str) -> Path:
        """A path for a new file.

        Raises:
            OSError: the folder can't be made.
        """
        folder = self._made()
        kept = sorted(folder.iterdir())
        for old in kept[: max(0, len(kept) - self._most + 1)]:
            old.unlink(missing_ok=True)
        numbers = (int(path.name[:5]) for path in kept if path.name[:5].isdecimal())
        return folder / f"{max(numbers, default=0) + 1:05d}-{name}"

    def _made(self) -> Path:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="sandgate-"))
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self._folder

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
