import io
import platform
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.stack.harness_programs import HARNESS_PROGRAMS, lay_out
from orchestrator.stack.steps import StepFailed


def package_of(folder: Path, *names: str) -> Path:
    """An npm package that holds these files."""
    archive = folder / "package.tgz"
    with tarfile.open(archive, "w:gz") as tar:
        for name in names:
            member = tarfile.TarInfo(f"package/{name}")
            member.size, member.mode, member.uid = len(name), 0o640, 1000
            tar.addfile(member, io.BytesIO(name.encode()))
    return archive


def laid_out(folder: Path, harness: str, archive: Path) -> dict[str, tuple[int, int, bytes]]:
    """What of the package comes into an image: mode, owner and content by path."""
    with tarfile.open(folder / "context.tar", "w") as context:
        lay_out(harness, archive, context)
    found = {}
    with tarfile.open(folder / "context.tar") as context:
        for member in context:
            body = context.extractfile(member)
            assert body is not None
            found[member.name] = (member.mode, member.uid, body.read())
    return found


def test_what_a_harness_needs_is_laid_out_and_the_rest_left(tmp_path: Path) -> None:
    vendor = f"vendor/{platform.machine()}-unknown-linux-musl"
    kept = [f"{vendor}/bin/codex", f"{vendor}/codex-path/rg", f"{vendor}/codex-resources/bwrap"]
    left = ["package.json", f"{vendor}/codex-resources/voice/big.bin"]
    found = laid_out(tmp_path, "codex", package_of(tmp_path, *kept, *left))
    assert found == {f"opt/harness/codex/{name}": (0o755, 0, name.encode()) for name in kept}


def test_a_package_that_changed_its_layout_is_told(tmp_path: Path) -> None:
    with pytest.raises(StepFailed, match="holds no claude"):
        laid_out(tmp_path, "claude_code", package_of(tmp_path, "lib/claude"))


def test_a_machine_that_a_program_is_not_made_for_is_told() -> None:
    elsewhere = replace(HARNESS_PROGRAMS["codex"], packages={})
    assert not elsewhere.runs_here
    with pytest.raises(StepFailed, match="for this machine"):
        _ = elsewhere.package


def test_every_program_is_pinned_by_version_and_hash_on_both_machines() -> None:
    for program in HARNESS_PROGRAMS.values():
        assert set(program.packages) == {"x86_64", "aarch64"}
        for package in program.packages.values():
            assert f"@{program.version}" in package.spec
            assert package.integrity.startswith("sha512-")
            assert len(package.integrity) == 95
