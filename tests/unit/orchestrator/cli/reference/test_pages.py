"""Each page names everything that it is about."""

import pytest

from orchestrator.adapters.polarion.toolbox import TOOLS
from orchestrator.cli.codes import Code
from orchestrator.cli.reference.commands import commands
from orchestrator.cli.reference.data_model import data_model
from orchestrator.cli.reference.http_api import BODIES, DOORS, calls, entrance, http_api, runner
from orchestrator.cli.reference.mcp_tools import mcp_tools
from orchestrator.cli.reference.run_states import OUTCOMES, run_states
from orchestrator.cli.reference.settings import settings
from orchestrator.domain.run import CAUSES, STATES, TRANSITIONS, Outcome
from polarion_app.config import load


def test_the_states_page_draws_and_lists_every_transition() -> None:
    text = run_states()
    for (source, event), target in TRANSITIONS.items():
        assert f"  {source} --> {target}: {event}\n" in text
        assert f"| `{source}` | `{event}` | `{target}` |" in text
    assert all(f"| `{state}` | {words} |" in text for state, words in STATES.items())
    assert all(f"| `{cause}` | {words} |" in text for cause, words in CAUSES.items())
    assert set(OUTCOMES) == set(Outcome)


@pytest.mark.parametrize(
    "row",
    [
        "| `SANDGATE_HOME` | path | `.sandgate` |",
        "| `SANDGATE_API__PORT` | integer | `8400` |",
        "| `SANDGATE_VAULT_KEY_FILE` | path | required |",
        "| `SANDGATE_SANDBOXES__PIDS` | integer, at least 16 | `512` |",
        "| `SANDGATE_RUNS__LIMIT_USD` | decimal, above 0 | `10` |",
        "| `SANDGATE_POLARION__EMBEDDED` | true or false | `false` |",
        "| `SANDGATE_MODELS__PRICES` | path | none |",
    ],
)
def test_a_setting_has_its_variable_type_and_default(row: str) -> None:
    assert row in settings()


def test_no_setting_goes_without_a_word() -> None:
    assert "|  |" not in settings()


@pytest.mark.parametrize(
    "command",
    [
        "up", "down", "status", "doctor", "demo", "hire", "agent create", "task create",
        "run ls", "run show", "run watch", "run cancel", "run transcript",
        "secret set", "secret ls", "model serve",
    ],
)  # fmt: skip
def test_a_command_has_its_section(command: str) -> None:
    assert f"## sandgate {command}\n" in commands()


def test_every_option_and_every_argument_says_what_it_is() -> None:
    rows = [line for line in commands().splitlines() if line.startswith("| `")]
    assert rows
    assert [row for row in rows if row.endswith("|  |")] == []


def test_what_must_be_given_is_not_in_brackets() -> None:
    usage = next(line for line in commands().splitlines() if line.startswith("sandgate secret set"))
    asked = "[--kind KIND] [--issuer ISSUER] [--scope SCOPE]..."
    assert usage == f"sandgate secret set NAME --host HOST... {asked}"


def test_every_exit_code_is_listed() -> None:
    assert all(f"\n| {int(code)} | " in commands() for code in Code)


def test_every_tool_has_its_section_and_its_arguments() -> None:
    text = mcp_tools()
    for tool in TOOLS:
        assert f"## {tool.name}\n\n{tool.description}" in text
        assert all(f"| `{name}` |" in text for name in tool.input_schema["properties"])


def test_the_data_model_names_types_fields_actions_and_links() -> None:
    text, model = data_model(), load()
    for one in model.types.values():
        assert f"### {one.id}\n" in text
        assert all(f"| `{field.id}` |" in text for field in one.fields)
        assert all(f"| `{action.id}` |" in text for action in one.actions)
    assert all(f"| `{link}` |" in text for link in model.link_roles)


def test_every_call_of_the_runner_says_what_it_does() -> None:
    text = http_api()
    for call in calls(runner()):
        line = next(line for line in text.splitlines() if line.startswith(f"| `{call}` |"))
        assert len(line) > len(f"| `{call}` |  |"), call


def test_every_body_that_a_call_takes_is_told() -> None:
    taking = {c for c in calls(runner()) if c.startswith(("POST", "PUT"))}
    without = {
        "POST /api/runs/{run}/cancel",
        "POST /api/runs/{run}/pull-request",
        "POST /api/frozen/{run}/discard",
        "POST /api/frozen/{run}/release",
        "POST /api/posture/run",
    }
    assert taking - without == set(BODIES)
    assert [line for line in http_api().splitlines() if line.endswith("|  |")] == []


def test_every_path_of_the_entrance_is_told_and_no_other() -> None:
    assert set(calls(entrance())) == set(DOORS)
