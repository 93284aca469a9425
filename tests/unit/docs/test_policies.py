"""Every policy that the how-to shows can be read, and its tables name what there is."""

import re
from pathlib import Path

import pytest

from orchestrator.domain.egress import Ground
from orchestrator.domain.egress_text import ground_of, policy_of
from orchestrator.domain.presets import VARIABLES, shipped_presets

PAGE = (Path(__file__).parents[3] / "docs/how-to/write-an-egress-policy.md").read_text()
BLOCKS = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
RULES = PAGE[PAGE.index("## Rules") :]


def test_there_are_policies_on_the_page() -> None:
    assert len(BLOCKS) >= 3


@pytest.mark.parametrize("block", BLOCKS)
def test_a_policy_on_the_page_can_be_read(block: str) -> None:
    assert isinstance(ground_of(block, "the page"), Ground)


def test_every_preset_and_every_variable_is_on_the_page() -> None:
    assert all(f"| `{name}` |" in PAGE for name in shipped_presets())
    assert all(f"`{name}`" in PAGE for names in VARIABLES.values() for name in names)


def test_every_key_of_a_rule_is_in_the_table_and_no_other() -> None:
    keys = set(re.findall(r"^\| `(\w+)` \|", RULES, re.MULTILINE))
    said = policy_of("rules: [{host: a.example, strange: 1}]", "x")
    assert "strange" in str(said)
    for key in keys:
        said = policy_of(f"rules: [{{host: a.example, {key}: {{}}}}]", "x")
        assert "Extra inputs" not in str(said), key
    assert len(keys) == 12
