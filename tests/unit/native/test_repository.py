import os
from pathlib import Path

from native.repository import LONGEST_BYTES, words


def test_agents_md_is_read_and_else_claude_md(tmp_path: Path) -> None:
    assert words(tmp_path) == ""
    (tmp_path / "CLAUDE.md").write_text("Use tabs.")
    assert words(tmp_path).endswith("(CLAUDE.md); what is above goes before it:\n\nUse tabs.")
    (tmp_path / "AGENTS.md").write_text("Use spaces.\n")
    assert words(tmp_path).endswith("\n\nUse spaces.")


def test_what_is_no_file_or_without_end_holds_nothing_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "AGENTS.md")
    (tmp_path / "CLAUDE.md").symlink_to("/dev/zero")
    assert words(tmp_path) == ""
    (tmp_path / "AGENTS.md").unlink()
    (tmp_path / "AGENTS.md").write_bytes(b"\xff" * LONGEST_BYTES * 2)
    assert len(words(tmp_path)) < LONGEST_BYTES + 200
