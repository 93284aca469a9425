"""Certificates of the test's own internet: by an authority of its own, or by themselves."""

import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID


class WebAuthority:
    """Signs certificates for the servers of a test."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _named("The test's own web")
        self._identifier = x509.SubjectKeyIdentifier.from_public_key(self._key.public_key())
        certificate = (
            _builder(self._name, self._name, self._key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(self._identifier, critical=False)
            .sign(self._key, hashes.SHA256())
        )
        self.file = folder / "web-authority.pem"
        self.file.write_bytes(certificate.public_bytes(Encoding.PEM))

    def context(self, names: Sequence[str]) -> ssl.SSLContext:
        """A server's context for these names."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = _named(names[0])
        issuer = x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(self._identifier)
        leaf = (
            _builder(subject, self._name, key.public_key())
            .add_extension(
                x509.SubjectAlternativeName([x509.DNSName(name) for name in names]), critical=False
            )
            .add_extension(issuer, critical=False)
            .sign(self._key, hashes.SHA256())
        )
        file = self._folder / f"{names[0].replace('*', 'any')}.pem"
        file.write_bytes(_private(key) + leaf.public_bytes(Encoding.PEM))
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(file)
        return context


@dataclass(frozen=True)
class Certificate:
    """A certificate for 127.0.0.1 that vouches for itself."""

    certificate: Path
    with_key: Path

    @property
    def context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.with_key)
        return context


def certificate(folder: Path) -> Certificate:
    """Make one in a folder."""
    key, name = ec.generate_private_key(ec.SECP256R1()), _named("collector of the tests")
    loopback = x509.IPAddress(ip_address("127.0.0.1"))
    made = (
        _builder(name, name, key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.SubjectAlternativeName([loopback]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = made.public_bytes(Encoding.PEM)
    (folder / "cert.pem").write_bytes(pem)
    (folder / "both.pem").write_bytes(pem + _private(key))
    return Certificate(folder / "cert.pem", folder / "both.pem")


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _private(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)  # noqa: TID251 - what it is compared with is the real clock
    return (
        x509.CertificateBuilder()
        .serial_number(x509.random_serial_number())
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
    )
