"""Files that commands are given."""

from pathlib import Path

from orchestrator.cli.codes import Code, CommandFailed


def read_text(path: Path) -> str:
    """A file's text. Raises: CommandFailed with a sentence."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandFailed(f"{path} can't be read: {error}", Code.NOT_FOUND) from error


def text_of(option: str) -> str:
    """A text as an option has it: itself, or what is in the file of `@FILE`. Raises: CommandFailed."""
    return read_text(Path(option[1:])) if option.startswith("@") else option
