"""Source archives: only the pinned one, and only its plain files."""

import io
import tarfile
from pathlib import Path

import pytest
from pydantic import ValidationError

from orchestrator.stack.demo.source_archive import SourceArchive, fetch, unpack
from orchestrator.stack.steps import StepFailed


def archive(path: Path, *members: tarfile.TarInfo | str) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for member in members:
            info = tarfile.TarInfo(member) if isinstance(member, str) else member
            if info.isfile():
                info.size = 3
                tar.addfile(info, io.BytesIO(b"abc"))
            else:
                tar.addfile(info)
    return path


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def test_files_are_laid_out_without_their_top_folder(tmp_path: Path) -> None:
    top = special("parse-1", tarfile.DIRTYPE)
    packed = archive(tmp_path / "a.tar.gz", top, "parse-1/a.py", "parse-1/b/c.py")

    unpack(packed, tmp_path / "files")

    assert (tmp_path / "files/a.py").read_bytes() == b"abc"
    assert (tmp_path / "files/b/c.py").read_bytes() == b"abc"


@pytest.mark.parametrize(
    "member",
    [
        pytest.param("/etc/passwd", id="absolute"),
        pytest.param("parse-1/../../x", id="outside"),
        pytest.param(special("parse-1/x", tarfile.SYMTYPE, "/etc/passwd"), id="symbolic link"),
        pytest.param(special("parse-1/x", tarfile.LNKTYPE, "parse-1/a.py"), id="hard link"),
        pytest.param(special("parse-1/x", tarfile.FIFOTYPE), id="pipe"),
        pytest.param(special("parse-1/x", tarfile.CHRTYPE), id="device"),
    ],
)
def test_an_archive_with_anything_but_plain_files_is_refused_whole(
    tmp_path: Path, member: tarfile.TarInfo | str
) -> None:
    packed = archive(tmp_path / "a.tar.gz", "parse-1/a.py", member)

    with pytest.raises(StepFailed, match="no plain file of the project"):
        unpack(packed, tmp_path / "files")

    assert not (tmp_path / "files").exists()


def test_what_is_no_archive_is_said_in_a_sentence(tmp_path: Path) -> None:
    broken = tmp_path / "a.tar.gz"
    broken.write_bytes(b"no archive")
    with pytest.raises(StepFailed, match=r"a\.tar\.gz can't be unpacked"):
        unpack(broken, tmp_path / "files")


def test_a_kept_archive_is_not_fetched_again(tmp_path: Path) -> None:
    kept = tmp_path / "x-1.0.tar.gz"
    kept.write_bytes(b"abc")
    sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert fetch(SourceArchive(name="x", version="1.0", sha256=sha256), tmp_path) == kept


@pytest.mark.parametrize(
    "wrong", [{"name": "--index-url"}, {"version": "1.0 --hash"}, {"sha256": "ABC"}, {"more": 1}]
)
def test_a_pin_that_is_none_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        SourceArchive.model_validate({"name": "x", "version": "1", "sha256": "0" * 64} | wrong)
