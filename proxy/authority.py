"""The certificate authority of one installation: made at set-up, read by the proxy, trusted by sandboxes.

It can sign server certificates for names, and nothing else: no other authority (path length 0), no
client or code (extended key usage), no address (name constraints, RFC 5280 4.2.1.10). The names it
may sign can't be listed: they are those of the whole web.
"""

import os
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_network
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

AUTHORITY_DAYS = 1095
RENEW_DAYS = 90
LEAF_DAYS = 7
BEHIND_DAYS = 30
"""A sandbox that slept may have a clock so far behind: everything is valid since so long ago."""


@dataclass(frozen=True, slots=True)
class Authority:
    """The key and certificate that leaves are signed with."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @classmethod
    def read(cls, key_file: Path, certificate_file: Path) -> "Authority":
        """Raises: OSError, or ValueError when the files don't hold one authority."""
        key = load_pem_private_key(key_file.read_bytes(), password=None)
        certificate = x509.load_pem_x509_certificate(certificate_file.read_bytes())
        if isinstance(key, ec.EllipticCurvePrivateKey) and (
            key.public_key() == certificate.public_key()
        ):
            return cls(key, certificate)
        raise ValueError(f"{key_file} is not the elliptic curve key of {certificate_file}")

    def leaf(self, host: str, key: ec.EllipticCurvePublicKey, now: datetime) -> x509.Certificate:
        """A certificate for `host`, a canonical name, with the public key `key`."""
        usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
        # A common name has 64 characters at most; clients look at the alternative name.
        common = x509.NameAttribute(NameOID.COMMON_NAME, host[:64])
        issuer = self.certificate.extensions.get_extension_for_class(x509.SubjectKeyIdentifier)
        identifier = x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(issuer.value)
        builder = (
            _builder(now, LEAF_DAYS)
            .subject_name(x509.Name([common]))
            .issuer_name(self.certificate.subject)
            .public_key(key)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_key_usage(signs_certificates=False), critical=True)
            .add_extension(usage, critical=False)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
            .add_extension(identifier, critical=False)
        )
        return builder.sign(self.key, hashes.SHA256())


def ensure(key_file: Path, certificate_file: Path, *, name: str, now: datetime) -> bool:
    """Have an authority in these files; say whether it was made now.

    One that ends within the next months is replaced: sandboxes that start from then on trust the new
    one. The key's file has mode 0600. Raises: OSError.
    """
    try:
        standing = Authority.read(key_file, certificate_file)
    except (OSError, ValueError):
        standing = None
    if standing is not None:
        left = standing.certificate.not_valid_after_utc - now
        if left > timedelta(days=RENEW_DAYS):
            return False
    key, certificate = _make(name, now)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    _write(key_file, pem, mode=0o600)
    _write(certificate_file, certificate.public_bytes(Encoding.PEM), mode=0o644)
    return True


def _make(name: str, now: datetime) -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate]:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Sandgate"),
            x509.NameAttribute(NameOID.COMMON_NAME, f"Sandgate egress of {name}"),
        ]
    )
    no_addresses = x509.NameConstraints(
        permitted_subtrees=None,
        excluded_subtrees=[x509.IPAddress(ip_network(one)) for one in ("0.0.0.0/0", "::/0")],
    )
    builder = (
        _builder(now, AUTHORITY_DAYS)
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_key_usage(signs_certificates=True), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(no_addresses, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    return key, builder.sign(key, hashes.SHA256())


def _builder(now: datetime, days: int) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=BEHIND_DAYS))
        .not_valid_after(now + timedelta(days=days))
    )


def _key_usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _write(file: Path, content: bytes, *, mode: int) -> None:
    """Whole or not at all, and never readable by more than `mode` says."""
    part = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as out:
        out.write(content)
        out.flush()
        os.fsync(out.fileno())
    part.replace(file)
