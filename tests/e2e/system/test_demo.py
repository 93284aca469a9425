"""The demo with every harness and in every provider's API: the same scenario, and the same end."""

import json
import shutil
from pathlib import Path

import pytest

from tests.e2e.system.theatre import CASTS, Theatre

pytestmark = [pytest.mark.docker, pytest.mark.timeout(300)]
KINDS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")


@pytest.mark.parametrize("cast", CASTS)
def test_the_same_scenario_ends_the_same_and_is_metered_to_the_token(
    theatre: Theatre, cast: str
) -> None:
    summary = theatre.played(cast)
    assert (summary["outcome"], summary["cause"]) == ("submitted", "handed_over"), summary
    assert summary["tests"]["result"] == "78 passed"
    assert summary["diff"]["files"] == ["parse.py", "test_parse.py"]
    assert summary["main_unchanged"] is True
    assert [one["kind"] for one in summary["refused"]] == ["git_push"]

    run = theatre.ask(f"/api/runs/{summary['run']}")
    assert run["frozen"] is None
    assert summary["spent"] == run["usage"]
    assert (summary["served"], summary["equal"]) == (run["usage"], True)
    answers = theatre.served(summary["task"].partition("/")[2])
    for kind in KINDS:
        assert sum(answer[kind] for answer in answers) == summary["spent"][kind], kind
    assert summary["spent"]["cache_read_tokens"] > 0
    assert sum(answer["reasoning_tokens"] for answer in answers) > 0
    assert float(summary["spent"]["cost_usd"]) > 0


@pytest.mark.parametrize("cast", CASTS)
def test_what_was_pushed_is_vouched_for(theatre: Theatre, cast: str) -> None:
    """By the installation, and by its record in Polarion: whatever the harness, git is told by our hook."""
    summary = theatre.played(cast)
    done = theatre.sandgate("verify", summary["repository_path"], summary["commit"], "--json")
    verdict = json.loads(done.stdout)
    assert (done.returncode, verdict["ok"]) == (0, True), verdict
    said = verdict["statement"]
    assert said["run"]["id"] == summary["run"]
    assert (said["run"]["task"], said["run"]["model"]) == (summary["task"], summary["model"])
    assert said["run"]["image"].startswith("sha256:")
    assert [one["new"] for one in said["refs"]] == [summary["commit"]]
    base = theatre.sandgate("verify", summary["repository_path"], summary["base_commit"])
    assert "has attested no push" in base.stderr


def test_the_record_and_plain_copies_vouch_for_it_as_well(theatre: Theatre, tmp_path: Path) -> None:
    """What another machine needs: a clone, the record's attachment, the public key, the log."""
    summary = theatre.played("native, Anthropic")
    files = theatre.attached(summary["agent_run"])
    (name,) = [one for one in files if one.startswith("attestation-")]
    (tmp_path / name).write_bytes(files[name])
    shutil.copy(theatre.here.public_key, tmp_path / "log.pub")
    shutil.copytree(theatre.here.data("egress"), tmp_path / "log")
    shutil.copytree(summary["repository_path"], tmp_path / "thing.git")
    copies = (
        f"--attestation={tmp_path / name}",
        f"--key={tmp_path}/log.pub",
        f"--log={tmp_path}/log",
    )
    done = theatre.sandgate("verify", f"{tmp_path}/thing.git", summary["commit"], *copies)
    assert done.returncode == 0, done.stdout
    assert f"comes from run {summary['run']}" in done.stdout


def test_a_model_that_the_harness_does_not_speak_to_is_refused_before_anything_is_made(
    theatre: Theatre,
) -> None:
    done = theatre.sandgate("demo", "--harness=codex", "--model=anthropic:claude-sonnet-5")
    assert (done.returncode, "codex takes openai:NAME" in done.stderr) == (2, True)
