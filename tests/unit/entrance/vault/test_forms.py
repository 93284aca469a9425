"""The forms in which a secret may come back."""

import base64
import html
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrance.vault.credentials import SecretHeaders
from entrance.vault.forms import SHORTEST, forms_of

VALUE = 'sk-ant"a/b+c&d=e?f<g>h'
SECRET = SecretHeaders({"authorization": f"Bearer {VALUE}"}, VALUE)
PRINTABLE = st.characters(min_codepoint=33, max_codepoint=126)


@pytest.mark.parametrize(
    "told",
    [
        VALUE,
        quote(VALUE, safe=""),
        html.escape(VALUE),
        json.dumps(VALUE)[1:-1],
        VALUE.encode().hex(),
        VALUE.encode().hex().upper(),
        base64.b64encode(VALUE.encode()).decode(),
        base64.urlsafe_b64encode(VALUE.encode()).decode(),
    ],
)
def test_each_form_is_taken_out(told: str) -> None:
    assert SECRET.redact_all(f"you sent {told}!".encode()) == b"you sent [redacted]!" or (
        "==" in told or told.endswith("=")
    )
    assert told.rstrip("=").encode() not in SECRET.redact_all(f"you sent {told}!".encode())


@given(
    secret=st.text(PRINTABLE, min_size=16, max_size=60),
    before=st.binary(max_size=20),
    after=st.binary(max_size=20),
)
def test_base64_of_anything_with_the_secret_in_it_hides_none_of_it(
    secret: str, before: bytes, after: bytes
) -> None:
    for code in (base64.b64encode, base64.urlsafe_b64encode):
        told = code(before + secret.encode() + after)
        left = SecretHeaders({"x-api-key": secret}).redact_all(told)
        assert b"[redacted]" in left
        assert len(left) <= len(told) - len(secret) + len(b"[redacted]")


@given(secret=st.text(PRINTABLE, min_size=8, max_size=60))
def test_no_form_is_so_short_that_words_have_it(secret: str) -> None:
    assert all(len(form) >= SHORTEST for form in forms_of(secret))
    assert secret.encode() in forms_of(secret)
