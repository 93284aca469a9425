"""What an installation was asked for is kept, and grows."""

from pathlib import Path

import pytest

from orchestrator.harnesses import HARNESSES
from orchestrator.stack.harness_programs import NAMES
from orchestrator.stack.installation import Installation
from orchestrator.stack.steps import StepFailed
from orchestrator.stack.wished import FILE, keep, wished


@pytest.fixture
def here(tmp_path: Path) -> Installation:
    return Installation.open(tmp_path / "home", create=True)


def test_nothing_is_wished_at_first(here: Installation) -> None:
    assert wished(here) == ()


def test_what_was_wished_once_stays_and_more_comes_to_it(here: Installation) -> None:
    keep(here, wished(here, ["codex"]))
    assert wished(here) == ("codex",)
    assert wished(here, ["claude_code", "codex"]) == ("claude_code", "codex")
    assert wished(here) == ("codex",), "it is kept once its image was made, not before"


def test_the_native_loop_needs_no_wish(here: Installation) -> None:
    assert wished(here, ["native"]) == ()


@pytest.mark.parametrize(
    ("text", "why"), [("{", "no list"), ('"codex"', "no list"), ('["gone"]', "knows no gone")]
)
def test_a_file_that_is_not_ours_is_told(here: Installation, text: str, why: str) -> None:
    (here.home / FILE).write_text(text)
    with pytest.raises(StepFailed, match=why) as told:
        wished(here)
    assert "sandgate up --harness" in str(told.value)


def test_every_harness_that_has_an_adapter_can_be_had() -> None:
    assert set(HARNESSES) <= set(NAMES)
