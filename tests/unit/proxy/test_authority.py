"""The installation's authority can sign server certificates for names, and nothing else."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID

from proxy.authority import AUTHORITY_DAYS, RENEW_DAYS, Authority, ensure

NOW = datetime(2026, 11, 30, tzinfo=UTC)


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    assert ensure(tmp_path / "ca.key", tmp_path / "ca.pem", name="sg1", now=NOW)
    return Authority.read(tmp_path / "ca.key", tmp_path / "ca.pem")


def test_its_key_is_the_owners_alone(authority: Authority, tmp_path: Path) -> None:
    assert (tmp_path / "ca.key").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "ca.pem").stat().st_mode & 0o777 == 0o644
    assert isinstance(authority.key.curve, ec.SECP256R1)


def test_it_is_constrained_as_far_as_clients_go_along(authority: Authority) -> None:
    found = {one.oid: one for one in authority.certificate.extensions}
    basic = found[x509.BasicConstraints.oid]
    assert basic.critical
    assert basic.value == x509.BasicConstraints(ca=True, path_length=0)
    usage = found[x509.ExtendedKeyUsage.oid].value
    assert usage == x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
    names = found[x509.NameConstraints.oid]
    assert names.critical
    assert isinstance(names.value, x509.NameConstraints)
    assert [str(one.value) for one in names.value.excluded_subtrees or ()] == ["0.0.0.0/0", "::/0"]
    signs = found[x509.KeyUsage.oid].value
    assert isinstance(signs, x509.KeyUsage)
    assert (signs.key_cert_sign, signs.digital_signature) == (True, False)


def test_a_leaf_is_for_one_name_and_short_lived(authority: Authority) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    leaf = authority.leaf("a.example", key.public_key(), NOW)
    leaf.verify_directly_issued_by(authority.certificate)
    alternative = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert alternative.get_values_for_type(x509.DNSName) == ["a.example"]
    assert leaf.not_valid_after_utc - NOW == timedelta(days=7)


def test_a_leaf_for_a_long_name_can_be_made(authority: Authority) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    host = ".".join(["x" * 60] * 4)
    leaf = authority.leaf(host, key.public_key(), NOW)
    alternative = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert alternative.get_values_for_type(x509.DNSName) == [host]


def test_a_client_whose_clock_is_weeks_behind_still_believes_it(authority: Authority) -> None:
    """CASE-79."""
    key = ec.generate_private_key(ec.SECP256R1())
    for certificate in (authority.certificate, authority.leaf("a.example", key.public_key(), NOW)):
        assert certificate.not_valid_before_utc <= NOW - timedelta(days=30)


def test_a_standing_one_stays_until_it_is_about_to_end(tmp_path: Path) -> None:
    files = (tmp_path / "ca.key", tmp_path / "ca.pem")
    ensure(*files, name="sg1", now=NOW)
    before = files[1].read_bytes()
    late = NOW + timedelta(days=AUTHORITY_DAYS - RENEW_DAYS)
    assert not ensure(*files, name="sg1", now=late - timedelta(days=1))
    assert files[1].read_bytes() == before
    assert ensure(*files, name="sg1", now=late)
    assert files[1].read_bytes() != before


@pytest.mark.parametrize("broken", ["ca.key", "ca.pem"])
def test_a_lost_or_foreign_half_is_replaced_with_the_other(tmp_path: Path, broken: str) -> None:
    files = (tmp_path / "ca.key", tmp_path / "ca.pem")
    ensure(*files, name="sg1", now=NOW)
    (tmp_path / broken).unlink()
    assert ensure(*files, name="sg1", now=NOW)
    assert Authority.read(*files).certificate.not_valid_after_utc > NOW


def test_a_key_that_isnt_the_certificates_is_not_taken(tmp_path: Path) -> None:
    files = (tmp_path / "ca.key", tmp_path / "ca.pem")
    ensure(*files, name="sg1", now=NOW)
    for key in (ec.generate_private_key(ec.SECP256R1()), rsa.generate_private_key(65537, 2048)):
        pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        files[0].write_bytes(pem)
        with pytest.raises(ValueError, match="is not the elliptic curve key"):
            Authority.read(*files)
