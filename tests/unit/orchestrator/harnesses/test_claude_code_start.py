"""How Claude Code is started: by its command line, its environment, and files outside of the repository."""

import json
from typing import Any

from orchestrator.harnesses import HARNESSES
from orchestrator.harnesses.claude_code import ClaudeCode
from orchestrator.ports import Assignment, Start

CONVERSATION = "a37356a3-08b0-45a8-8289-03e14057cba8"
TOKEN = "sgr_secret"
HARNESS = ClaudeCode()


def started(**changes: str) -> Start:
    fields: dict[str, Any] = {
        "model": "anthropic:claude-sonnet-5",
        "system": "You are Rex.",
        "prompt": "Do it.\n" * 100_000,
        "entrance": "http://10.1.2.1:8080",
        "run_token": TOKEN,
        "workdir": "/workspace/thing",
    }
    return HARNESS.start(Assignment(**fields | changes))


def test_it_is_known_by_its_name() -> None:
    assert isinstance(HARNESSES["claude_code"], ClaudeCode)


def test_no_token_is_in_a_file_or_on_the_command_line() -> None:
    start = started()
    assert not any(TOKEN in argument for argument in start.argv)
    assert not any(TOKEN.encode() in content for content in start.files.values())
    assert start.env["SANDGATE_RUN_TOKEN"] == start.env["ANTHROPIC_AUTH_TOKEN"] == TOKEN


def test_long_texts_are_in_files_outside_of_the_repository() -> None:
    start = started()
    assert max(len(argument) for argument in start.argv) < 1000
    assert not any(path.startswith("/workspace") for path in start.files)
    assert start.files["/home/agent/.sandgate/prompt.md"] == b"Do it.\n" * 100_000
    assert start.argv[:2] == ["/bin/sh", "-c"]
    assert start.argv[2].endswith('exec "$@" </home/agent/.sandgate/prompt.md\n')


def test_the_door_is_the_model_and_the_tools() -> None:
    start = started(model="company:claude-sonnet-5")
    assert start.env["ANTHROPIC_BASE_URL"] == "http://10.1.2.1:8080/model/company"
    assert "--model=claude-sonnet-5" in start.argv
    servers = json.loads(start.files["/home/agent/.sandgate/mcp.json"])["mcpServers"]
    assert list(servers) == ["sandgate"]
    assert start.env["SANDGATE_ENTRANCE"] == "http://10.1.2.1:8080"


def test_its_environment_is_made_anew_and_asks_for_no_other_host() -> None:
    """CASE-96: nothing of a program that started us. CASE-105: no telemetry, no updates, no plug-ins."""
    env = started().env
    assert not [name for name in env if name.startswith("CLAUDECODE")]
    assert env["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"] == env["DISABLE_AUTOUPDATER"] == "1"


def test_an_earlier_conversation_is_resumed_by_its_id() -> None:
    assert not any(argument.startswith("--resume") for argument in started().argv)
    assert started(resume=CONVERSATION).argv[-1] == f"--resume={CONVERSATION}"


def test_a_conversation_is_kept_under_its_folder() -> None:
    kept = HARNESS.kept_at(CONVERSATION, "/workspace/my.repo_x")
    assert kept == f"/home/agent/.claude/projects/-workspace-my-repo-x/{CONVERSATION}.jsonl"
