from pathlib import Path

from native.output import LONGEST_CHARS, Spill


def test_a_short_text_stays(tmp_path: Path) -> None:
    assert Spill(tmp_path).bounded("x" * LONGEST_CHARS, "a") == "x" * LONGEST_CHARS
    assert list(tmp_path.iterdir()) == []


def test_a_long_text_is_cut_and_kept_whole(tmp_path: Path) -> None:
    """CASE-69: a result of 10 MB is bounded; the rest is in a file that the agent can read."""
    whole = "head" + "x" * (10 << 20) + "tail"
    shown = Spill(tmp_path).bounded(whole, "a.txt")
    assert len(shown) < LONGEST_CHARS + 300
    assert shown.startswith("head")
    assert shown.endswith("tail")
    path = Path(shown.split("all of it: ")[1].split(" ...]")[0])
    assert path.read_text() == whole


def test_old_files_make_room(tmp_path: Path) -> None:
    spill = Spill(tmp_path)
    paths = [Path(spill.keep(b"x", "a")) for _ in range(30)]
    assert [path.exists() for path in paths] == [False] * 18 + [True] * 12


def test_a_folder_that_is_used_again_loses_nothing(tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    first = Path(Spill(tmp_path / "s").keep(b"one", "a"))
    second = Path(Spill(tmp_path / "s").keep(b"two", "a"))
    assert (first.read_bytes(), second.read_bytes()) == (b"one", b"two")
    assert Path(Spill(tmp_path).keep(b"x", "a")).name == "00001-a"


def test_a_full_disk_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    shown = Spill(tmp_path / "file" / "in it").bounded("x" * (LONGEST_CHARS + 1), "a")
    assert "all of it: could not be kept: Not a directory" in shown
