"""What each program is told: settings that the runner reads, and no secret anywhere."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from orchestrator.settings import Settings
from orchestrator.stack import local_git, pocketbase, services
from orchestrator.stack.demo import stage
from orchestrator.stack.demo.task import SCENARIO
from orchestrator.stack.images import ImageTags
from orchestrator.stack.installation import Installation
from orchestrator.stack.keys import make_key
from orchestrator.stack.process import Program
from orchestrator.stack.services import fingerprint
from orchestrator.stack.steps import StepFailed
from orchestrator.stack.wiring import (
    Wishes,
    address_of,
    bridge_of,
    kept_providers,
    opensandbox_server,
    providers_of,
    runner_env,
)

TAGS = ImageTags(
    {"native": "sandgate/sg123456-sandbox:abc", "codex": "sandgate/sg123456-sandbox-codex:abc"},
    execd="sandgate/sg123456-execd:def",
)
INHERITED = {"PATH": "/usr/bin", "LANG": "C.UTF-8"}


@pytest.fixture
def here(tmp_path: Path) -> Installation:
    return Installation.open(tmp_path / "home", create=True)


def wishes(here: Installation, providers: Mapping[str, str] | None = None) -> Wishes:
    return Wishes(home=here.home, providers=providers)


def programs(here: Installation) -> Iterator[Program]:
    """Every long-running program of an installation, as `up` and the demo start them."""
    yield pocketbase.program(here.home, here.ports.pocketbase)
    server = opensandbox_server(here, wishes(here), TAGS)
    env = runner_env(here, wishes(here), TAGS, INHERITED)
    yield from (
        service.program
        for service in (
            services.polarion(here, INHERITED),
            services.opensandbox(server, INHERITED),
            services.runner(here, env),
            local_git.service(here, INHERITED),
            stage._model(here, SCENARIO, make_key(here.keys / "model.key"), INHERITED),
        )
    )


def test_the_runner_can_read_all_that_it_is_told(
    here: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = wishes(
        here, {"anthropic": "http://127.0.0.1:9", "company": "openai+https://llm.example"}
    )
    for name, value in runner_env(here, told, TAGS, {}).items():
        monkeypatch.setenv(name, value)
    read = Settings()
    assert read.name == here.name
    assert read.entrance.host == here.gateway
    assert read.models.providers["anthropic"].base_url == "http://127.0.0.1:9"
    assert read.models.providers["company"].dialect == "openai"
    assert read.sandboxes.images == TAGS.by_harness
    assert (bridge_of(here).name, bridge_of(here).subnet) == (
        read.sandboxes.network,
        read.sandboxes.subnet,
    )


def test_every_file_that_the_runner_is_told_of_is_below_the_home_or_ours(
    here: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in runner_env(here, wishes(here), TAGS, {}).items():
        monkeypatch.setenv(name, value)
    read = Settings()
    for file in (read.vault_key_file, read.log.key_file, read.transcripts, read.api.token_file):
        assert file.is_relative_to(here.home)
    assert read.sandboxes.seccomp_file.exists()


def test_no_secret_is_in_any_environment_or_command_line(here: Installation) -> None:
    """Both are seen by whoever lists processes; PocketBase's settings key protects nothing of ours."""
    started = list(programs(here))
    assert {program.pid_file.stem for program in started} == {
        "pocketbase",
        "polarion",
        "opensandbox",
        "runner",
        "githost",
        "model",
    }
    secrets = {file.name: file.read_text().strip() for file in here.keys.iterdir()}
    assert {"api.token", "polarion-admin.token", "pocketbase.password", "model.key"} <= set(secrets)
    assert {"opensandbox.key", "githost.password", "githost.credential"} <= set(secrets)
    del secrets["pocketbase.key"]
    for program in started:
        shown = " ".join((*program.argv, *(program.env or {}).values()))
        for name, secret in secrets.items():
            assert secret not in shown, f"{name} is shown by {program.name}"
            assert secret.rpartition(":")[2] not in shown
            assert secret not in repr(program)


def test_only_the_runner_is_told_the_installations_settings(here: Installation) -> None:
    for program in programs(here):
        names = [name for name in program.env or {} if name.startswith("SANDGATE_")]
        if program.name not in {"runner", "PocketBase"}:
            assert not names, program.name


def test_every_program_has_an_environment_of_its_own(here: Installation) -> None:
    """None would mean: all of the user's shell."""
    for program in programs(here):
        assert program.env is not None
        assert program.log.parent == here.log
        assert program.pid_file.parent == here.run


@pytest.mark.parametrize(
    ("address", "read"),
    [
        ("https://a.example/x", {"base_url": "https://a.example/x"}),
        ("openai+http://a", {"base_url": "http://a", "dialect": "openai"}),
        ("google+https://a", {"base_url": "https://a", "dialect": "google"}),
    ],
)
def test_an_address_may_say_whose_api_is_spoken_there(address: str, read: dict[str, str]) -> None:
    assert address_of(address) == read


@pytest.mark.parametrize("address", ["", "a.example", "ftp://a", "klingon+https://a", "+http://a"])
def test_what_is_no_address_of_a_provider_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="is no http"):
        address_of(address)


def test_providers_are_kept_until_they_are_said_anew(here: Installation) -> None:
    assert providers_of(here, wishes(here)) == {}
    assert providers_of(here, wishes(here, {"a": "http://a"})) == {"a": "http://a"}
    assert providers_of(here, wishes(here)) == {"a": "http://a"}
    assert providers_of(here, wishes(here, {"b": "http://b"})) == {"b": "http://b"}
    assert kept_providers(here) == {"b": "http://b"}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"a": 1}'])
def test_a_file_of_providers_that_can_not_be_read_is_named(here: Installation, text: str) -> None:
    (here.home / "models.json").write_text(text)
    with pytest.raises(StepFailed, match=r"models\.json"):
        kept_providers(here)


def test_two_installations_share_no_address_and_no_name(tmp_path: Path) -> None:
    one = Installation.open(tmp_path / "one", create=True)
    two = Installation.open(tmp_path / "two", create=True)
    assert bridge_of(one).name != bridge_of(two).name
    assert not one.subnet.overlaps(two.subnet)
    assert one.name not in str(runner_env(two, wishes(two), TAGS, {}))


@pytest.mark.parametrize(
    ("lost", "restarted"),
    [
        ("pocketbase.password", {"PocketBase", "runner"}),
        ("polarion-admin.token", {"polarion", "runner"}),
        ("opensandbox.key", {"The OpenSandbox server", "runner"}),
        ("api.token", {"runner"}),
    ],
)
def test_a_key_that_was_lost_restarts_whoever_has_read_it(
    here: Installation, lost: str, restarted: set[str]
) -> None:
    """Else the one who reads it next would be refused by the one who has the old one."""
    before = made_of(here)
    (here.keys / lost).unlink()
    after = made_of(here)
    assert {name for name in before if before[name] != after[name]} == restarted


def made_of(here: Installation) -> dict[str, str]:
    """The services' fingerprints, by name, in the order in which `up` asks for them."""
    env = runner_env(here, wishes(here), TAGS, INHERITED)
    return {
        service.program.name: fingerprint(service.program, service.content)
        for service in (
            pocketbase.service(here.home, here.ports.pocketbase),
            services.polarion(here, INHERITED),
            services.opensandbox(opensandbox_server(here, wishes(here), TAGS), INHERITED),
            services.runner(here, env),
        )
    }
