"""How a client proves who it is."""

from datetime import UTC, datetime

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from entrance.errors import Forbidden
from entrance.vault.client_proof import check_client_key, proof_of
from entrance.vault.discovery import IssuerMetadata

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
type Key = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey
KEYS: dict[str, Key] = {
    "RS256": rsa.generate_private_key(65537, 2048),
    "ES256": ec.generate_private_key(ec.SECP256R1()),
    "ES384": ec.generate_private_key(ec.SECP384R1()),
    "EdDSA": ed25519.Ed25519PrivateKey.generate(),
}


def pem_of(key: Key) -> str:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def issuer(*methods: str) -> IssuerMetadata:
    return IssuerMetadata(
        issuer="https://id.example",
        token_endpoint="https://id.example/token",
        token_endpoint_auth_methods_supported=list(methods),
    )


@pytest.mark.parametrize("algorithm", KEYS)
def test_a_key_signs_for_this_issuer_once_and_for_five_minutes(algorithm: str) -> None:
    key = KEYS[algorithm]
    proof = proof_of("me", pem_of(key), issuer("private_key_jwt"), NOW, "n-1")
    claims = jwt.decode(
        proof.form["client_assertion"],
        key.public_key(),
        algorithms=[algorithm],
        audience="https://id.example",
        options={"verify_exp": False, "verify_iat": False},
    )
    assert (claims["iss"], claims["sub"], claims["jti"]) == ("me", "me", "n-1")
    assert claims["exp"] - claims["iat"] == 300
    assert "client_assertion" not in repr(proof)


def test_a_secret_goes_in_a_header_or_in_the_form_and_shows_itself_in_neither() -> None:
    secret = "s3cret/with=signs"
    basic = proof_of("me:1", secret, issuer("client_secret_post", "client_secret_basic"), NOW, "n")
    assert dict(basic.form) == {}
    posted = proof_of("me:1", secret, issuer("client_secret_post"), NOW, "n")
    assert dict(posted.form) == {"client_id": "me:1", "client_secret": secret}
    for proof in (basic, posted):
        assert secret not in repr(proof)
        echoed = f"{dict(proof.headers)} {secret}".encode()
        assert secret.encode() not in proof.headers.redact_all(echoed)
    assert b"bWU" not in basic.headers.redact_all(str(dict(basic.headers)).encode())


@pytest.mark.parametrize(
    ("value", "methods"),
    [(pem_of(KEYS["ES256"]), ["client_secret_basic"]), ("a-secret", ["private_key_jwt", "none"])],
)
def test_what_the_issuer_does_not_take_is_not_shown(value: str, methods: list[str]) -> None:
    with pytest.raises(Forbidden):
        proof_of("me", value, issuer(*methods), NOW, "n")


@pytest.mark.parametrize(
    "pem",
    [
        "-----BEGIN PRIVATE KEY-----\nnonsense\n-----END PRIVATE KEY-----",
        pem_of(ec.generate_private_key(ec.SECP256K1())),
        pem_of(rsa.generate_private_key(65537, 1024)),  # noqa: S505 - it must be refused
        "-----BEGIN " + "x" * 20_000,
    ],
)
def test_a_key_that_can_not_sign_is_refused_when_it_is_set(pem: str) -> None:
    with pytest.raises(ValueError, match="the value of wiki"):
        check_client_key("wiki", pem)
