"""Room is asked for what is still to be made, and for nothing else."""

from pathlib import Path

import pytest

from orchestrator.stack.image_recipes import KINDS
from orchestrator.stack.room import HARNESS, NEEDS, Room, needed, require_free, require_room
from orchestrator.stack.steps import StepFailed

GB = 10**9
EXABYTE = 10**18


def test_where_all_is_made_nothing_is_asked(tmp_path: Path) -> None:
    assert needed([]) == (0, 0)
    require_room([], home=tmp_path, engine=tmp_path)


def test_what_is_there_only_meanwhile_counts_once() -> None:
    one, two = needed(["sandbox-codex"]), needed(["sandbox-codex", "sandbox-claude_code"])
    assert two[0] - one[0] == HARNESS.home
    assert two[1] - one[1] == HARNESS.engine


@pytest.mark.parametrize(
    ("kinds", "most"),
    [
        pytest.param(["execd"], 0.1 * GB, id="execd alone"),
        pytest.param(["sandbox"], 0.3 * GB, id="a changed native loop"),
        pytest.param(["base", "sandbox", "execd"], 1.3 * GB, id="the first up"),
        pytest.param(KINDS, 3.6 * GB, id="everything at once"),
    ],
)
def test_less_is_asked_than_used_to_be(kinds: list[str], most: float) -> None:
    assert 0 < sum(needed(kinds)) <= most


def test_every_kind_has_a_row_or_is_a_harness() -> None:
    assert {kind for kind in KINDS if kind not in NEEDS} == {"sandbox-claude_code", "sandbox-codex"}


def test_a_full_disk_is_told_with_what_it_is_needed_for(tmp_path: Path) -> None:
    with pytest.raises(StepFailed) as told:
        require_free(tmp_path / "not" / "there" / "yet", EXABYTE, "to make the images base")
    assert "are needed to make the images base" in told.value.why
    assert str(tmp_path) in told.value.what


def test_an_engine_elsewhere_is_not_measured_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vast = Room(home=0, engine=EXABYTE)
    monkeypatch.setattr("orchestrator.stack.room.NEEDS", {"execd": vast})
    with pytest.raises(StepFailed):
        require_room(["execd"], home=tmp_path, engine=tmp_path)
    require_room(["execd"], home=tmp_path, engine=Path("/not/on/this/machine"))
