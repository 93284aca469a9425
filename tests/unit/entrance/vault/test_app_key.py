"""What the key of a GitHub App signs."""

from datetime import UTC, datetime

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from entrance.errors import Forbidden, Malformed
from entrance.vault.app_key import app_token, check_key
from entrance.vault.seal import Keyring
from entrance.vault.vault import Vault
from tests.fakes.secrets import FakeSecretStore
from tests.servers.githosts.github import APP, app_key

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
SHORT = rsa.generate_private_key(65537, 1024)  # noqa: S505 - it must be refused
URL = "https://api.github.com/repos/team/thing/installation"


def test_an_apps_token_lasts_ten_minutes_in_all() -> None:
    pem, public = app_key()
    token = app_token(APP, pem, NOW)
    claims = jwt.decode(
        token,
        public,
        algorithms=["RS256"],
        issuer=APP,
        options={"verify_exp": False, "verify_iat": False},
    )
    second = int(NOW.timestamp())
    assert (claims["iat"], claims["exp"]) == (second - 60, second + 540)
    assert jwt.get_unverified_header(token) == {"alg": "RS256", "typ": "JWT"}


def _pem(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey, password: bytes = b"") -> str:
    how = BestAvailableEncryption(password) if password else NoEncryption()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, how).decode()


@pytest.mark.parametrize(
    "pem",
    [
        pytest.param("", id="nothing"),
        pytest.param("ghp_a-token-that-was-taken-for-a-key", id="a token"),
        pytest.param(_pem(ec.generate_private_key(ec.SECP256R1())), id="an elliptic curve's"),
        pytest.param(_pem(SHORT), id="a short one"),
        pytest.param(
            _pem(rsa.generate_private_key(65537, 2048), b"secret"), id="one with a password"
        ),
        pytest.param("x" * 20_000, id="a long text"),
    ],
)
async def test_what_is_no_key_of_an_app_is_not_sealed(pem: str) -> None:
    store = FakeSecretStore()
    vault = Vault(store, Keyring("k", {"k": b"k" * 32}), lambda: NOW)
    with pytest.raises(ValueError, match="the value of app") as refused:
        await vault.put("app", pem, ["api.github.com"], f"github-app:{APP}")
    assert not store.rows
    assert not pem or pem not in str(refused.value)
    with pytest.raises((ValueError, Malformed)):
        check_key("app", pem)


async def test_the_vault_gives_out_what_the_key_signs_and_never_the_key() -> None:
    pem = app_key()[0]
    store = FakeSecretStore()
    vault = Vault(store, Keyring("k", {"k": b"k" * 32}), lambda: NOW)
    await vault.put("app", pem, ["api.github.com"], f"github-app:{APP}")
    headers = await vault.headers_for("app", "GET", URL)
    assert headers["authorization"] == f"Bearer {app_token(APP, pem, NOW)}"
    for line in pem.splitlines():
        assert line not in repr(headers) + str(dict(headers)) + repr(store.rows["app"])
    for method, url in (
        ("GET", "https://evil.example/repos/team/thing/installation"),
        ("POST", "https://api.github.com/repos/team/thing/pulls"),
        ("DELETE", "https://api.github.com/app/installations/1/access_tokens"),
    ):
        with pytest.raises(Forbidden, match="not for"):
            await vault.headers_for("app", method, url)


async def test_an_app_is_named_with_its_key_and_a_vault_without_a_clock_signs_nothing() -> None:
    vault = Vault(FakeSecretStore(), Keyring("k", {"k": b"k" * 32}))
    with pytest.raises(ValueError, match="needs a name"):
        await vault.put("app", app_key()[0], ["api.github.com"], "github-app")
    await vault.put("app", app_key()[0], ["api.github.com"], f"github-app:{APP}")
    with pytest.raises(Forbidden, match="no clock"):
        await vault.headers_for("app", "GET", URL)
