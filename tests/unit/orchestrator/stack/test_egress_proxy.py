"""How the egress proxy of an installation is started, and what it is started with."""

from pathlib import Path

import pytest

from orchestrator.settings import Egress
from orchestrator.stack.egress_proxy import EgressFiles, enabled, service, state, upstream_bundle
from orchestrator.stack.installation import Installation
from orchestrator.stack.steps import StepFailed


@pytest.fixture
def here(tmp_path: Path) -> Installation:
    return Installation.open(tmp_path / "home", create=True)


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    file = tmp_path / "machine.crt"
    file.write_text("authorities")
    return file


@pytest.mark.parametrize(
    ("said", "is_there"),
    [
        *((yes, True) for yes in ("true", "1", "on", "Yes")),
        *((no, False) for no in ("false", "False", "0", "no", "off", "N", "f")),
    ],
)
def test_there_is_one_unless_the_operator_says_otherwise(
    here: Installation, said: str, *, is_there: bool
) -> None:
    assert enabled(here)
    (here.home / "settings.env").write_text(f"SANDGATE_EGRESS__ENABLED={said}\n")
    assert enabled(here) is is_there
    assert Egress.model_validate({"enabled": said}).enabled is is_there, "as the runner reads it"


def test_servers_are_verified_against_the_operators_bundle_or_the_machines(
    here: Installation, bundle: Path
) -> None:
    assert upstream_bundle(here, {"SSL_CERT_FILE": str(bundle)}) == bundle
    (here.home / "settings.env").write_text("EGRESS__UPSTREAM_CA=/nowhere.pem\n")
    with pytest.raises(StepFailed, match=r"/nowhere\.pem"):
        upstream_bundle(here, {"SSL_CERT_FILE": str(bundle)})


def test_it_inherits_nothing_and_listens_on_the_bridge_alone(
    here: Installation, bundle: Path
) -> None:
    files = EgressFiles(here)
    files.folder.mkdir(exist_ok=True)
    files.certificate.write_text("certificate")
    env = {
        "PATH": "/bin",
        "SSL_CERT_FILE": str(bundle),
        "HTTPS_PROXY": "http://u:p@x",
        "HOME": "/root",
    }
    found = service(here, env)
    assert found.program.env == {"PATH": "/bin"}
    assert f"--host={here.gateway}" in found.program.argv
    assert f"--upstream={bundle}" in found.program.argv
    assert found.host == here.gateway


def test_other_authorities_start_it_anew(here: Installation, bundle: Path) -> None:
    files = EgressFiles(here)
    files.folder.mkdir(exist_ok=True)
    files.certificate.write_text("certificate")
    env = {"SSL_CERT_FILE": str(bundle)}
    before = service(here, env).content
    assert service(here, env).content == before
    files.certificate.write_text("another")
    assert service(here, env).content != before


def test_one_that_isnt_there_says_nothing(here: Installation) -> None:
    assert state(here) is None
