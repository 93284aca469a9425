"""The reference pages say what the code says."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.cli.reference.pages import FOLDER, PAGES, differing, write

REFERENCES = sorted(PAGES)


@pytest.mark.parametrize("name", REFERENCES)
def test_a_page_is_what_the_code_says(name: str) -> None:
    assert (FOLDER / name).read_text() == PAGES[name](), "run `make docs`"


def test_a_page_that_somebody_edited_is_found_and_made_anew(tmp_path: Path) -> None:
    assert write(tmp_path) == list(PAGES)
    assert differing(tmp_path) == []
    page = tmp_path / "settings.md"
    page.write_text(page.read_text() + "One more sentence.\n")
    (tmp_path / "cli.md").unlink()
    assert differing(tmp_path) == ["cli.md", "settings.md"]
    assert write(tmp_path) == ["cli.md", "settings.md"]
    assert differing(tmp_path) == []


def test_the_check_ends_well_when_nothing_drifted() -> None:
    command = [sys.executable, "-m", "orchestrator.cli.reference", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("name", REFERENCES)
def test_every_row_of_a_table_has_its_tables_width(name: str) -> None:
    for table in re.findall(r"(?:^\|.*\n)+", PAGES[name](), re.MULTILINE):
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(widths) == 1, table


@pytest.mark.parametrize("name", REFERENCES)
def test_nothing_of_this_machine_is_on_a_page(name: str) -> None:
    assert not re.search(
        r"/home/\w|/root|0x[0-9a-f]{6}|<\w+ object", PAGES[name]().replace("/home/agent", "")
    )
