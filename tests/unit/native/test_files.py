"""The tools read, write and edit, and the files that are meant to trip them."""

import os
from pathlib import Path
from typing import Any

import pytest
from native.files import LARGEST_EDIT_BYTES, Files
from native.output import LONGEST_CHARS, ToolError


def read(folder: Path, name: str = "f", **more: Any) -> str:
    return Files(folder).read({"path": name, **more}).text


def edit(folder: Path, old: str, new: str) -> str:
    return Files(folder).edit({"path": "f", "old": old, "new": new}).text


def test_lines_are_numbered_and_a_part_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("".join(f"line {n}\n" for n in range(1, 6)))
    assert read(tmp_path, offset=2, limit=2) == (
        "     2\tline 2\n     3\tline 3\n[more lines follow: go on with offset 4]"
    )
    assert read(tmp_path, offset=5) == "     5\tline 5"
    assert "fewer than 9 lines" in read(tmp_path, offset=9)


def test_a_long_file_is_read_in_parts_that_fit_together(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("".join(f"{n} {'x' * 90}\n" for n in range(1, 1001)))
    seen, offset = 0, 1
    while offset:
        part = read(tmp_path, offset=offset)
        assert len(part) <= LONGEST_CHARS + 100
        seen += sum(1 for line in part.splitlines() if "\t" in line)
        offset = int(part.rsplit(" ", 1)[1].rstrip("]")) if part.endswith("]") else 0
    assert seen == 1000


def test_an_endless_line_is_cut_and_the_next_one_is_still_found(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x" * (3 << 20) + b"\nend\n")
    first, second = read(tmp_path).splitlines()
    assert first.endswith("[... line cut]")
    assert len(first) < 2100
    assert second == "     2\tend"


def test_latin_1_is_readable_and_survives_an_edit(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"caf\xe9 one\r\ntwo\r\n")
    assert read(tmp_path).startswith("     1\tcaf\ufffd one")
    edit(tmp_path, "one\ntwo", "1\n2")
    assert (tmp_path / "f").read_bytes() == b"caf\xe9 1\r\n2\r\n"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("z", "y", "does not stand in"),
        ("a", "y", r"stands 3 times in .* \(lines 1, 2, 2\)"),
        ("", "y", "`old` is empty"),
        ("a", "a", "the same"),
    ],
)
def test_an_edit_needs_one_place(tmp_path: Path, old: str, new: str, said: str) -> None:
    (tmp_path / "f").write_text("a\na a\n")
    with pytest.raises(ToolError, match=said):
        edit(tmp_path, old, new)
    assert (tmp_path / "f").read_text() == "a\na a\n"


def test_places_that_overlap_are_more_than_one(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("aaa")
    with pytest.raises(ToolError, match="2 times"):
        edit(tmp_path, "aa", "b")


def test_an_edit_says_where_it_was(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a\nb\nc\n")
    assert edit(tmp_path, "b", "B").endswith("line 2.")
    assert (tmp_path / "f").read_text() == "a\nB\nc\n"


def test_a_huge_file_is_not_edited_in_memory(tmp_path: Path) -> None:
    with (tmp_path / "f").open("wb") as file:
        file.truncate(LARGEST_EDIT_BYTES + 1)
    with pytest.raises(ToolError, match="larger than 20 MB"):
        edit(tmp_path, "a", "b")


def test_writing_makes_folders_and_replaces(tmp_path: Path) -> None:
    tool = Files(tmp_path)
    tool.write({"path": "a/b/c", "content": "é"})
    assert tool.write({"path": "a/b/c", "content": "ü"}).text.startswith("Wrote 2 bytes")
    assert (tmp_path / "a/b/c").read_text() == "ü"


def test_what_is_no_text_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\x7fELF\x00\x01")
    os.mkfifo(tmp_path / "pipe")
    for name, said in [
        ("binary", "is not text"),
        ("pipe", "not a regular file"),
        ("/dev/zero", "not a regular file"),
        (".", "is a folder"),
        ("missing", "No such file"),
        ("binary/x", "Not a directory"),
        ("", "empty"),
        ("a\0b", "NUL"),
    ]:
        with pytest.raises(ToolError, match=said):
            read(tmp_path, name)
    with pytest.raises(ToolError, match="not a regular file"):
        Files(tmp_path).write({"path": "pipe", "content": "x"})
