"""`sandgate policy pushes` shows what is asked of pushes, and `hire --pushes` asks for more."""

from dataclasses import replace
from pathlib import Path

import pytest

from entrance.push_policy import Mode
from orchestrator.cli.codes import Code
from orchestrator.domain.push_demand import Demand
from tests.fakes.world import ENGAGEMENT
from tests.servers.api import Api
from tests.servers.command import sandgate_beside


async def test_the_rules_are_shown_with_what_they_mean_here(api: Api) -> None:
    asks = Demand(modes={"gate-path": Mode.DENY}, gate_paths=("deploy/**",), max_file_bytes=1 << 20)
    api.fakes.tracker.hired[ENGAGEMENT.id] = replace(ENGAGEMENT, pushes=asks)
    plain = await sandgate_beside("policy", "pushes")
    assert plain.code == 0
    assert "a file has 50 MiB" in plain.out
    assert "(set)" not in plain.out
    theirs = await sandgate_beside("policy", "pushes", "--engagement", ENGAGEMENT.id)
    assert "deny (set)" in theirs.out
    assert "a gate, too: deploy/**" in theirs.out
    assert "a file has 1 MiB" in theirs.out


@pytest.mark.usefixtures("here")
async def test_a_file_is_read_without_changing_anything(tmp_path: Path) -> None:
    file = tmp_path / "pushes.yaml"
    file.write_text("modes: {submodule: deny}\n")
    done = await sandgate_beside("policy", "pushes", "--file", str(file), "--json")
    assert isinstance(done.json, dict)
    assert {"submodule": "deny"}.items() <= {
        rule["rule"]: rule["mode"] for rule in done.json["rules"]
    }.items()
    file.write_text("modes: {rewind: note}\n")
    refused = await sandgate_beside("policy", "pushes", "--file", str(file))
    assert refused.code == Code.REFUSED
    assert f"{file}, line 1: modes: rewind is always deny" in refused.err
    both = await sandgate_beside("policy", "pushes", "--file", str(file), "--run", "x")
    assert both.code == Code.USAGE
