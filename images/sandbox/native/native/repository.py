"""What the repository that is worked on says to agents. These are words to the model and settle nothing."""

from pathlib import Path

NAMES = ("AGENTS.md", "CLAUDE.md")
"""The first that is there is read."""
LONGEST_BYTES = 32 << 10


def words(workdir: Path) -> str:
    """The repository's own instructions as a part of the system text; empty if it has none."""
    for name in NAMES:
        path = workdir / name
        try:
            if not path.is_file():
                continue
            with path.open("rb") as file:
                text = file.read(LONGEST_BYTES).decode("utf-8", "replace").strip()
        except OSError:
            continue
        return (
            f"What the repository says to agents ({name}); what is above goes before it:\n\n{text}"
        )
    return ""
