"""Envelopes: what is signed is what is read, and nothing else."""

import base64

import orjson
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from entrance.attestation.envelope import TYPE, encoded, opened, sealed
from entrance.log.signing import Signer, UntrustedError, canonical
from tests.servers.log import signer

OTHER = Signer(Ed25519PrivateKey.generate())
SAID = b'{"a":1}'


def why(envelope: bytes) -> str:
    with pytest.raises(UntrustedError) as raised:
        opened(envelope, signer().trust)
    return raised.value.why


def test_what_is_signed_is_the_encoding_of_the_specification() -> None:
    assert encoded("http://example.com/HelloWorld", b"hello world") == (
        b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    )


@given(st.binary(max_size=300))
def test_what_was_sealed_is_opened(statement: bytes) -> None:
    envelope = sealed(statement, signer())
    assert opened(envelope, signer().trust) == statement
    assert opened(envelope + b"\n", signer().trust) == statement
    told = orjson.loads(envelope)
    assert (told["payloadType"], len(told["signatures"])) == (TYPE, 1)


@given(st.data(), st.integers(1, 255))
def test_any_flipped_byte_is_refused(data: st.DataObject, flip: int) -> None:
    envelope = bytearray(sealed(SAID, signer()))
    envelope[data.draw(st.integers(0, len(envelope) - 1))] ^= flip
    assert why(bytes(envelope)) in {"unreadable", "forged", "foreign_key"}


@given(st.data())
def test_any_cut_or_added_byte_is_refused(data: st.DataObject) -> None:
    envelope = sealed(SAID, signer())
    at = data.draw(st.integers(0, len(envelope) - 1))
    assert why(envelope[:at])
    assert why(envelope[:at] + data.draw(st.binary(min_size=1, max_size=3)) + envelope[at:])


def test_one_that_another_has_signed_is_told_apart() -> None:
    assert why(sealed(SAID, OTHER)) == "foreign_key"


def test_one_that_another_has_signed_in_our_name_is_forged() -> None:
    told = orjson.loads(sealed(SAID, OTHER))
    told["signatures"][0]["keyid"] = signer().trust.key_id
    assert why(orjson.dumps(told)) == "forged"


def test_another_statement_under_our_signature_is_forged() -> None:
    told = orjson.loads(sealed(SAID, signer()))
    told["payload"] = base64.b64encode(b'{"a":2}').decode()
    assert why(orjson.dumps(told)) == "forged"


def test_a_second_signature_is_not_taken() -> None:
    told = orjson.loads(sealed(SAID, signer()))
    told["signatures"] *= 2
    assert why(orjson.dumps(told)) == "unreadable"


def test_what_the_log_has_signed_is_no_envelope() -> None:
    statement = {"type": "checkpoint", "key_id": signer().trust.key_id}
    signature = signer().key.sign(canonical(statement))
    told = orjson.loads(sealed(canonical(statement), signer()))
    told["signatures"][0]["sig"] = base64.b64encode(signature).decode()
    assert why(orjson.dumps(told)) == "forged"
