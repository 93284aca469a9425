import io
import platform
import tarfile
from pathlib import Path

import pytest

from orchestrator.stack.harness_programs import HARNESS_PROGRAMS, cached, integrity_of, lay_out
from orchestrator.stack.steps import StepFailed


def put_in_cache(cache: Path, harness: str, names: list[str]) -> None:
    package = HARNESS_PROGRAMS[harness].packages[platform.machine()]
    archive = cached(package, cache)
    archive.parent.mkdir(parents=True)
    with tarfile.open(archive, "w:gz") as tar:
        for name in names:
            body = name.encode()
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(body)
            tar.addfile(member, io.BytesIO(body))


def laid_out(into: Path) -> dict[str, str]:
    return {
        file.relative_to(into).as_posix(): f"{file.stat().st_mode & 0o777:o}"
        for file in into.rglob("*")
        if file.is_file()
    }


def test_what_a_harness_needs_is_laid_out_and_the_rest_left(tmp_path: Path) -> None:
    vendor = f"vendor/{platform.machine()}-unknown-linux-musl"
    kept = [f"{vendor}/bin/codex", f"{vendor}/codex-path/rg", f"{vendor}/codex-resources/bwrap"]
    left = ["package.json", f"{vendor}/codex-resources/voice/big.bin"]
    put_in_cache(tmp_path / "cache", "codex", kept + left)
    lay_out("codex", tmp_path / "out", cache=tmp_path / "cache")
    assert laid_out(tmp_path / "out") == dict.fromkeys(kept, "755")


def test_a_package_that_changed_its_layout_is_told(tmp_path: Path) -> None:
    put_in_cache(tmp_path / "cache", "claude_code", ["lib/claude"])
    with pytest.raises(StepFailed, match="holds no claude"):
        lay_out("claude_code", tmp_path / "out", cache=tmp_path / "cache")


def test_every_program_is_pinned_by_version_and_hash_on_both_machines() -> None:
    for program in HARNESS_PROGRAMS.values():
        assert set(program.packages) == {"x86_64", "aarch64"}
        for package in program.packages.values():
            assert "@" in package.spec[1:]
            assert package.integrity.startswith("sha512-")
            assert len(package.integrity) == 95


def test_integrity_is_written_as_npm_writes_it(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes(b"")
    assert integrity_of(file) == (
        "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg=="
    )
