"""A held push on the screen: what an agent wrote is shown, and does nothing."""

import io

import pytest
from rich.console import Console

from orchestrator.cli.held_push import LONGEST_LINE, diff_line, print_preview

PREVIEW = {
    "commits": [],
    "files": [{"path": "a.bin", "added": -1, "removed": -1}],
    "patch": "one\ntwo\nthree",
    "cut": False,
}


@pytest.mark.parametrize(
    ("line", "style"),
    [
        ("+new", "green"),
        ("-old", "red"),
        ("+++ b/x", "bold"),
        ("--- a/x", "bold"),
        ("@@ -1 +1 @@", "cyan"),
        (" as it was", ""),
    ],
)
def test_a_diffs_lines_are_told_apart(line: str, style: str) -> None:
    assert (diff_line(line).plain, diff_line(line).style) == (line, style)


@pytest.mark.parametrize("evil", ["\x1b[2J", "\r", "\x07", "\u202e", "\x9b31m", "\ud800"])
def test_nothing_in_a_diff_is_obeyed(evil: str) -> None:
    shown = diff_line(f"+before{evil}after").plain
    assert not set(shown) & set(evil[:1])
    assert "before" in shown
    assert "after" in shown


def test_a_line_without_end_is_cut_and_says_so() -> None:
    shown = diff_line("+" + "x" * 10_000).plain
    assert len(shown) < LONGEST_LINE + 50
    assert f"{10_001 - LONGEST_LINE} more characters" in shown


@pytest.mark.parametrize(("most", "left"), [(0, ""), (2, "1 more lines"), (3, "")])
def test_what_is_not_shown_is_counted(most: int, left: str) -> None:
    out = io.StringIO()
    print_preview(Console(file=out, width=100), PREVIEW, most)
    assert ("more lines" in out.getvalue()) == bool(left)
    assert left in out.getvalue()
    assert "binary" in out.getvalue()
