from pathlib import Path

import pytest

from orchestrator.stack.content import copy_content, digest, tree_hash
from orchestrator.stack.steps import StepFailed


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.txt").write_text("a")
    (folder / "sub" / "run").write_text("#!/bin/sh\n")
    (folder / "sub" / "run").chmod(0o700)
    return folder


def test_no_part_of_a_digest_can_pass_for_anothers_end() -> None:
    assert digest("ab", "c") != digest("a", "bc")


def test_the_hash_of_a_tree_follows_bytes_names_and_the_executable_bit(tree: Path) -> None:
    hashes = [tree_hash(tree)]
    (tree / "a.txt").write_text("b")
    hashes.append(tree_hash(tree))
    (tree / "a.txt").rename(tree / "b.txt")
    hashes.append(tree_hash(tree))
    (tree / "b.txt").chmod(0o755)
    hashes.append(tree_hash(tree))
    assert len(set(hashes)) == len(hashes)


def test_what_is_no_content_changes_no_hash(tree: Path) -> None:
    before = tree_hash(tree, leave_out=["notes.txt"])
    (tree / "sub" / "__pycache__").mkdir()
    (tree / "sub" / "__pycache__" / "x.pyc").write_text("x")
    (tree / "notes.txt").write_text("x")
    (tree / "a.txt").chmod(0o600)
    assert tree_hash(tree, leave_out=["notes.txt"]) == before


def test_a_copy_has_the_same_modes_whatever_the_umask_was(tree: Path, tmp_path: Path) -> None:
    (tree / "a.txt").chmod(0o600)
    (tree / "__pycache__").mkdir()
    copy_content(tree, tmp_path / "copy")
    modes = {
        file.relative_to(tmp_path / "copy").as_posix(): f"{file.stat().st_mode & 0o777:o}"
        for file in (tmp_path / "copy").rglob("*")
    }
    assert modes == {"a.txt": "644", "sub": "755", "sub/run": "755"}


def test_a_missing_part_is_named(tmp_path: Path) -> None:
    with pytest.raises(StepFailed, match=r"bootstrap\.sh does not exist"):
        copy_content(tmp_path / "bootstrap.sh", tmp_path / "out")
