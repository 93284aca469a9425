"""Settings that people keep for an installation."""

from pathlib import Path

import pytest

from orchestrator.stack.own_settings import own_settings
from orchestrator.stack.steps import StepFailed


def test_no_file_is_no_settings(tmp_path: Path) -> None:
    assert own_settings(tmp_path) == {}


def test_names_may_have_the_prefix_and_comments_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "settings.env").write_text(
        "# ours\n\nRUNS__DEADLINE_S = 60\nSANDGATE_SANDBOXES__MEMORY=4Gi\n"
    )
    assert own_settings(tmp_path) == {"RUNS__DEADLINE_S": "60", "SANDBOXES__MEMORY": "4Gi"}


@pytest.mark.parametrize("line", ["RUNS", "=1", "runs__poll_s=1", "export RUNS__POLL_S=1"])
def test_a_line_that_is_no_setting_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "settings.env").write_text(f"RUNS__POLL_S=1\n{line}\n")
    with pytest.raises(StepFailed, match="line 2"):
        own_settings(tmp_path)
