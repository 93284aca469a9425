"""The runner's settings: from the environment, secrets as files only, and what is wrong as a sentence."""

import subprocess
import sys
from decimal import Decimal
from ipaddress import IPv4Network
from pathlib import Path

import pytest
from pydantic import BaseModel, SecretStr, ValidationError

from entrance.push_policy import Mode, PushPolicy
from orchestrator.settings import (
    Environment,
    Group,
    Settings,
    inherited_environment,
    service_environment,
    variables,
)

ROOT = Path(__file__).parents[3]
NEEDED = {
    "VAULT_KEY_FILE": "/keys/vault.key",
    "LOG__FOLDER": "/data/egress",
    "LOG__KEY_FILE": "/keys/log.key",
    "LOG__SOCKET": "/run/recorder.sock",
    "TRANSCRIPTS": "/data/transcripts",
    "API__TOKEN_FILE": "/keys/api.token",
    "POLARION__URL": "http://127.0.0.1:9/polarion/rest/v1",
    "POLARION__TOKEN_FILE": "/keys/polarion.token",
    "POCKETBASE__URL": "http://127.0.0.1:9",
    "POCKETBASE__PASSWORD_FILE": "/keys/pocketbase.password",
    "SANDBOXES__URL": "http://127.0.0.1:9",
    "SANDBOXES__API_KEY_FILE": "/keys/opensandbox.key",
    "SANDBOXES__IMAGES": '{"native": "sandgate/sg123456-sandbox:abc"}',
    "SANDBOXES__NETWORK": "sg123456",
    "SANDBOXES__BRIDGE": "sg123456b0",
    "SANDBOXES__SUBNET": "10.1.2.0/24",
    "SANDBOXES__SECCOMP_FILE": "/seccomp.json",
    "SANDBOXES__RESOLV_CONF": "/resolv.conf",
    "SANDBOXES__TASKS": "/tasks",
    "ENTRANCE__HOST": "10.1.2.1",
}


@pytest.fixture
def env(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name, value in NEEDED.items():
        monkeypatch.setenv(f"SANDGATE_{name}", value)
    return monkeypatch


def test_what_is_asked_of_pushes_is_what_the_door_knows(env: pytest.MonkeyPatch) -> None:
    env.setenv("SANDGATE_PUSHES__MODES", '{"gate-path": "deny"}')
    env.setenv("SANDGATE_PUSHES__GATE_PATHS", '["deploy/**"]')
    env.setenv("SANDGATE_PUSHES__MAX_FILE_MIB", "3")
    policy = Settings().pushes.policy()
    assert policy == PushPolicy({"gate-path": Mode.DENY}, ("deploy/**",), 3 << 20)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MODES", '{"no-such": "deny"}'),
        ("MODES", '{"rewind": "note"}'),
        ("MODES", '{"secret": "perhaps"}'),
        ("GATE_PATHS", '["/deploy"]'),
        ("MAX_FILE_MIB", "0"),
    ],
)
def test_what_can_not_be_asked_of_pushes_is_named(
    env: pytest.MonkeyPatch, name: str, value: str
) -> None:
    env.setenv(f"SANDGATE_PUSHES__{name}", value)
    with pytest.raises(ValidationError) as error:
        Settings()
    assert variables(error.value)[0].startswith(f"SANDGATE_PUSHES__{name}")


def test_the_environment_becomes_settings(env: pytest.MonkeyPatch) -> None:
    env.setenv("SANDGATE_RUNS__PARALLEL", "7")
    env.setenv("SANDGATE_RUNS__LIMIT_USD", "2.50")
    env.setenv(
        "SANDGATE_MODELS__PROVIDERS",
        '{"anthropic": {"base_url": "https://models.example", "secret": "anthropic"}}',
    )
    read = Settings()
    assert read.sandboxes.subnet == IPv4Network("10.1.2.0/24")
    assert (read.runs.parallel, read.runs.limit_usd) == (7, Decimal("2.50"))
    assert read.models.providers["anthropic"].secret == "anthropic"
    assert read.api.port == 8400, "a default"


@pytest.mark.usefixtures("env")
def test_settings_can_not_be_changed() -> None:
    read = Settings()
    with pytest.raises(ValidationError):
        read.name = "other"  # type: ignore[misc]  # that is what is tried
    with pytest.raises(ValidationError):
        read.runs.parallel = 9  # type: ignore[misc]


def test_a_name_that_is_not_known_is_passed_over(env: pytest.MonkeyPatch) -> None:
    """The command's own variables, and those of a newer version, are in the same environment."""
    env.setenv("SANDGATE_DOCKER_HOST", "unix:///x")
    env.setenv("SANDGATE_SOMETHING_NEW", "1")
    assert Settings().name == "sandgate"


def test_a_name_that_a_group_does_not_know_is_named(env: pytest.MonkeyPatch) -> None:
    env.setenv("SANDGATE_RUNS__PARALEL", "7")
    with pytest.raises(ValidationError) as raised:
        Settings()
    assert variables(raised.value) == ["SANDGATE_RUNS__PARALEL: Extra inputs are not permitted"]


def groups() -> list[type[Group]]:
    found = [field.annotation for field in Settings.model_fields.values()]
    return [one for one in found if isinstance(one, type) and issubclass(one, Group)]


def test_no_setting_holds_a_secret_itself() -> None:
    """What is a secret is a file's name: an environment is inherited, shown and logged."""
    assert len(groups()) == 14
    models: list[type[BaseModel]] = [Settings, Environment, *groups()]
    for model in models:
        for name, field in model.model_fields.items():
            assert field.annotation is not SecretStr
            if {"token", "password", "key"} & set(name.split("_")):
                assert name.endswith("_file"), name
                assert field.annotation in (Path, Path | None), name


def test_a_wrong_value_is_not_repeated(env: pytest.MonkeyPatch) -> None:
    env.setenv("SANDGATE_API__PORT", "sgr_not-a-port")
    with pytest.raises(ValidationError) as raised:
        Settings()
    (said,) = variables(raised.value)
    assert said.startswith("SANDGATE_API__PORT: ")
    assert "sgr_" not in said


def start(env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """`python -m orchestrator`, to its end."""
    wanted = {f"SANDGATE_{name}": value for name, value in env.items()}
    return subprocess.run(
        [sys.executable, "-m", "orchestrator"], env={**service_environment(), **wanted}, cwd=ROOT,
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


def test_missing_settings_are_named_in_a_sentence() -> None:
    done = start({name: value for name, value in NEEDED.items() if name != "VAULT_KEY_FILE"})
    assert done.returncode == 2
    assert done.stderr == (
        "orchestrator: the settings are not complete: SANDGATE_VAULT_KEY_FILE: Field required\n"
    )
    assert "Traceback" not in done.stdout


def test_a_key_file_that_is_not_there_is_named_in_a_sentence() -> None:
    done = start(NEEDED)
    assert done.returncode == 1
    assert done.stderr.startswith("orchestrator: the runner can't start: /keys/")
    assert "Traceback" not in done.stderr + done.stdout


def test_services_inherit_how_the_machine_is_set_up_and_no_keys(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "SHLVL", "PWD"):
        monkeypatch.setenv(name, "x")
    for name in ("HTTPS_PROXY", "no_proxy", "LC_ALL"):
        monkeypatch.setenv(name, "C")
    monkeypatch.setenv("SANDGATE_HOME", "/x")
    given = service_environment()
    assert {"PATH", "HTTPS_PROXY", "no_proxy", "LC_ALL"} <= given.keys()
    assert not {"ANTHROPIC_API_KEY", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY"} & given.keys()
    assert not {"SHLVL", "PWD", "SANDGATE_HOME"} & given.keys()
    assert inherited_environment()["GITHUB_TOKEN"] == "x", "commands act in the user's place"
    assert "SANDGATE_HOME" not in inherited_environment()
