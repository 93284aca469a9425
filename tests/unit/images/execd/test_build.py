"""execd is one file, the same from the same sources, for Python 3.11."""

import ast
import runpy
import stat
import sys
import zipfile
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[4] / "images" / "execd"


def build(target: Path, **options: bool) -> None:
    runpy.run_path(str(FOLDER / "build.py"))["build"](target, **options)


def test_the_same_sources_give_the_same_bytes(tmp_path: Path) -> None:
    build(tmp_path / "a")
    build(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o755


def test_every_module_is_in_it_and_nothing_of_this_machine(tmp_path: Path) -> None:
    build(tmp_path / "a", bytecode=True)
    names = zipfile.ZipFile(tmp_path / "a").namelist()
    assert {f"execd/{path.name}" for path in (FOLDER / "execd").glob("*.py")} < set(names)
    assert "execd/server.pyc" in names
    assert str(FOLDER).encode() not in (tmp_path / "a").read_bytes()


@pytest.mark.parametrize("module", sorted((FOLDER / "execd").glob("*.py")), ids=lambda p: p.name)
def test_every_module_is_python_3_11_and_imports_the_standard_library_only(module: Path) -> None:
    tree = ast.parse(module.read_text(), feature_version=(3, 11))
    imported = {
        name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [a.name for a in node.names]
        )
    }
    assert imported <= {"execd", *sys.stdlib_module_names}
