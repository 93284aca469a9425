"""What a run's canaries are, and where they stand."""

import base64
import configparser
import re
import string
import zlib

import pytest
import yaml
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from hypothesis import given
from hypothesis import strategies as st

from entrance.honeytokens.canaries import AWS, DOTENV, GITHUB, SSH, canaries_of, files_of
from entrance.session import RunId

KEY = b"k" * 32
RUN = RunId("run-1")
SHAPES = {
    "aws-key-id": r"AKIA[A-Z2-7]{16}",
    "aws-secret": r"[A-Za-z0-9]{40}",
    "github-token": r"ghp_[A-Za-z0-9]{36}",
    "ssh-key": r"MC4CAQAwBQYDK2VwBCIEI[A-Za-z0-9]{43}",
    "model-key": r"sk-ant-api03-[A-Za-z0-9]{93}AA",
    "database-password": r"[A-Za-z0-9]{24}",
}


def test_a_run_has_the_same_canaries_after_a_restart() -> None:
    assert canaries_of(KEY, RUN) == canaries_of(KEY, RUN)


def test_no_two_runs_and_no_two_installations_share_a_secret() -> None:
    sets = [canaries_of(key, RunId(run)) for key in (KEY, b"q" * 32) for run in ("a", "b", "a:b")]
    secrets = [canary.secret for canaries in sets for canary in canaries]
    assert len(set(secrets)) == len(secrets)


@given(run=st.text("abcdef0123456789-", min_size=1))
def test_each_canary_looks_like_what_it_pretends_to_be(run: str) -> None:
    canaries = canaries_of(KEY, RunId(run))
    assert {canary.name for canary in canaries} == SHAPES.keys()
    for canary in canaries:
        assert re.fullmatch(SHAPES[canary.name], canary.value)
        assert canary.secret in canary.value
        assert canary.secret.isalnum()


def test_the_ssh_key_is_a_key() -> None:
    pem = files_of(canaries_of(KEY, RUN))[SSH]
    assert isinstance(load_pem_private_key(pem.encode(), None), Ed25519PrivateKey)


def test_the_secret_of_the_ssh_key_is_of_its_random_bytes_alone() -> None:
    one, other = (
        next(c for c in canaries_of(KEY, RunId(run)) if c.name == "ssh-key") for run in "ab"
    )
    assert base64.b64decode(one.value)[:16] == base64.b64decode(other.value)[:16]
    assert not {one.secret[i : i + 8] for i in range(30)} & {
        other.secret[i : i + 8] for i in range(30)
    }


def test_the_github_token_passes_a_check_of_its_checksum() -> None:
    """Base62 of the CRC-32 of the thirty letters before it, as GitHub publishes it."""
    token = next(c for c in canaries_of(KEY, RUN) if c.name == "github-token").value
    digits = string.digits + string.ascii_uppercase + string.ascii_lowercase
    number = 0
    for letter in token[-6:]:
        number = number * 62 + digits.index(letter)
    assert number == zlib.crc32(token[4:-6].encode())


def test_no_tool_takes_one_up_by_itself() -> None:
    """No default profile, no host that a repository has, no folder that a project is below."""
    files = files_of(canaries_of(KEY, RUN))
    profiles = configparser.ConfigParser()
    profiles.read_string(files[AWS])
    assert profiles.sections() == ["production"]
    assert list(yaml.safe_load(files[GITHUB])) == ["git.corp.internal"]
    own = {".netrc", ".git-credentials", ".npmrc", ".pypirc", "id_ed25519", "id_rsa", "pip.conf"}
    assert not own & {path.rsplit("/", 1)[1] for path in files}
    assert all(path.startswith("/home/agent/") and path != "/home/agent/.env" for path in files)


def test_every_canary_stands_in_its_place() -> None:
    canaries = canaries_of(KEY, RUN)
    files = files_of(canaries)
    assert files.keys() == {AWS, GITHUB, SSH, DOTENV}
    for canary in canaries:
        assert canary.value in files[canary.place]


@pytest.mark.parametrize("shown", [repr, str])
def test_no_value_is_shown_by_accident(shown: type[str]) -> None:
    for canary in canaries_of(KEY, RUN):
        assert canary.secret not in shown(canary)
