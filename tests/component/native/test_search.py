"""glob and grep: with ripgrep if it is there, and without."""

import sys
from pathlib import Path

import pytest
from native.output import Spill, ToolError
from native.search import MOST_FILES, Search
from native.shell import Shell

RG = str(Path(sys.executable).with_name("rg"))
"""The development dependency's; a sandbox has Debian's."""
BOTH = [pytest.param(None, id="Python"), pytest.param(RG, id="ripgrep")]


def search(folder: Path, rg: str | None = None) -> Search:
    return Search(folder, Shell(folder, Spill()), Spill(), ripgrep=rg)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / "src/a.py").write_text("import os\ndef find():\n    pass\n")
    (tmp_path / "src/b.txt").write_bytes(b"caf\xe9 find\n")
    (tmp_path / ".git/c.py").write_text("find")
    (tmp_path / "binary").write_bytes(b"find\0find")
    return tmp_path


@pytest.mark.parametrize("rg", BOTH)
def test_grep_finds_lines_below_the_working_directory(tree: Path, rg: str | None) -> None:
    found = search(tree, rg).grep({"pattern": "^def f.*d", "glob": "*.py"}).text
    assert found.removeprefix("./") == "src/a.py:2:def find():"


@pytest.mark.parametrize("rg", BOTH)
def test_grep_says_when_there_is_nothing(tree: Path, rg: str | None) -> None:
    outcome = search(tree, rg).grep({"pattern": "nowhere", "path": "src"})
    assert (outcome.text, outcome.is_error) == ("No matches.", False)


@pytest.mark.parametrize("rg", BOTH)
def test_a_pattern_that_is_none_is_an_error(tree: Path, rg: str | None) -> None:
    try:
        assert search(tree, rg).grep({"pattern": "("}).is_error
    except ToolError as error:
        assert "not a regular expression" in str(error)  # noqa: PT017 - one of two ways to say no


def test_glob_lists_files_without_the_repository_s_own(tree: Path) -> None:
    found = search(tree).glob({"pattern": "**/*.py"}).text
    assert found == str(tree / "src/a.py")
    assert search(tree).glob({"pattern": "*.zip"}).text == "No files found."


@pytest.mark.parametrize("pattern", ["", "/etc/*"])
def test_a_pattern_that_glob_can_t_use_is_an_error(tree: Path, pattern: str) -> None:
    with pytest.raises(ToolError):
        search(tree).glob({"pattern": pattern})


def test_a_folder_that_is_not_there_is_an_error(tree: Path) -> None:
    with pytest.raises(ToolError, match="does not exist"):
        search(tree).grep({"pattern": "x", "path": "nowhere"})


def test_too_many_files_are_cut(tmp_path: Path) -> None:
    for number in range(MOST_FILES + 5):
        (tmp_path / f"{number}.x").touch()
    assert search(tmp_path).glob({"pattern": "*.x"}).text.endswith("narrow the search]")
